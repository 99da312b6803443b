// SPDX-License-Identifier: MIT
// op.cl - the operators of reduce. Each defines
//   gs_acc              accumulator, a whole number of 32-bit words
//   GS_LIFT(v, i)       the accumulator of the value v at index i
//   GS_COMBINE(a, b)    the accumulator of a followed by b; GS_EITHER is the same as an expression
//                       that also takes vectors
//   GS_IDENTITY         what changes no accumulator (not for GS_OP_CUSTOM); used by reduce_exact.cl
//   GS_RESULT(a, n)     the value that is stored (not minmax)
//   GS_LIFT16(v)        the same as GS_LIFT for 16 values at once, where GS_VECTOR is defined; for
//                       argmin and argmax just their keys (GS_SEARCH)
//   GS_FOLD(a, b)       GS_EITHER for what GS_LIFT16 gives, of type GS_FOLDED
//
// The host defines GS_OP_<NAME>, gs_value (the type of a value), GS_OUT (the type of a result),
// GS_ACC (a scalar accumulator's type, at least 32 bits wide) with its GS_ACC_SMALLEST and
// GS_ACC_LARGEST if it is an integer, and for min, max and their kin
//   GS_FLOAT_KEYS       if values are floats; then GS_ACC is the signed integer of their width

// Floats are compared by integer images: a monotone map that puts -0 below +0. NaN gets the key
// that wins, so it propagates; OpenCL's own min and max differ between drivers there.
#if defined(GS_FLOAT_KEYS)
#if GS_FLOAT_KEYS == 64
#define GS_SIGN_SHIFT 63
#define GS_KEY_TOP    0x7fffffffffffffffL
#define GS_BITS(v)    as_long(v)
#define GS_FLOAT(k)   as_double(k)
#define GS_NAN        as_double(0x7ff8000000000000L)
#else
#define GS_SIGN_SHIFT 31
#define GS_KEY_TOP    0x7fffffff
#define GS_BITS(v)    as_int(v)
#define GS_FLOAT(k)   as_float(k)
#define GS_NAN        as_float(0x7fc00000)
#endif
#define GS_FLIP(bits)   ((bits) ^ (((bits) >> GS_SIGN_SHIFT) & GS_KEY_TOP))
#define GS_KEY_LEAST    (-GS_KEY_TOP - 1)
#define GS_LAST_LOW     GS_KEY_TOP
#define GS_LAST_HIGH    GS_KEY_LEAST
#define GS_KEY_LOW(v)   ((v) != (v) ? GS_KEY_LEAST : GS_FLIP(GS_BITS(v)))
#define GS_KEY_HIGH(v)  ((v) != (v) ? GS_KEY_TOP : GS_FLIP(GS_BITS(v)))
#define GS_UNKEY(k)     ((k) == GS_KEY_LEAST || (k) == GS_KEY_TOP ? GS_NAN : GS_FLOAT(GS_FLIP(k)))
#else
#define GS_KEY_LOW(v)  ((GS_ACC)(v))
#define GS_KEY_HIGH(v) ((GS_ACC)(v))
#define GS_UNKEY(k)    (k)
#define GS_LAST_LOW    GS_ACC_LARGEST
#define GS_LAST_HIGH   GS_ACC_SMALLEST
#endif

// Arithmetic may leave any NaN; one canonical NaN is stored.
#if defined(GS_FLOAT_RESULT)
#if GS_FLOAT_RESULT == 64
#define GS_CANONICAL(v) ((v) != (v) ? as_double(0x7ff8000000000000L) : (v))
#else
#define GS_CANONICAL(v) ((v) != (v) ? as_float(0x7fc00000) : (v))
#endif
#else
#define GS_CANONICAL(v) (v)
#endif

#if defined(GS_OP_SUM) || defined(GS_OP_MEAN)
typedef GS_ACC gs_acc;
#define GS_LIFT(v, i)    ((gs_acc)(v))
#define GS_LIFT16(v)     (v)
#define GS_IDENTITY      ((gs_acc)0)
#define GS_EITHER(a, b)  ((a) + (b))
#if defined(GS_OP_MEAN)
#define GS_RESULT(a, n) GS_CANONICAL((GS_OUT)((double)(a) / (double)(n)))
#else
#define GS_RESULT(a, n) GS_CANONICAL((GS_OUT)(a))
#endif

#elif defined(GS_OP_PROD)
typedef GS_ACC gs_acc;
#define GS_LIFT(v, i)    ((gs_acc)(v))
#define GS_LIFT16(v)     (v)
#define GS_IDENTITY      ((gs_acc)1)
#define GS_EITHER(a, b)  ((a) * (b))
#define GS_RESULT(a, n)  GS_CANONICAL((GS_OUT)(a))

#elif defined(GS_OP_MIN)
typedef GS_ACC gs_acc;
#define GS_LIFT(v, i)    GS_KEY_LOW(v)
#define GS_IDENTITY      GS_LAST_LOW
#define GS_EITHER(a, b)  ((b) < (a) ? (b) : (a))
#define GS_RESULT(a, n)  ((GS_OUT)GS_UNKEY(a))

#elif defined(GS_OP_MAX)
typedef GS_ACC gs_acc;
#define GS_LIFT(v, i)    GS_KEY_HIGH(v)
#define GS_IDENTITY      GS_LAST_HIGH
#define GS_EITHER(a, b)  ((b) > (a) ? (b) : (a))
#define GS_RESULT(a, n)  ((GS_OUT)GS_UNKEY(a))

#elif defined(GS_OP_MINMAX)
typedef struct {
    GS_ACC low, high;
} gs_acc;
static gs_acc gs_lift(const gs_value v)
{
    const gs_acc a = {GS_KEY_LOW(v), GS_KEY_HIGH(v)};
    return a;
}
static gs_acc gs_combine(const gs_acc a, const gs_acc b)
{
    const gs_acc c = {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high};
    return c;
}
static gs_acc gs_minmax_identity(void)
{
    const gs_acc a = {GS_LAST_LOW, GS_LAST_HIGH};
    return a;
}
#define GS_LIFT(v, i)    gs_lift(v)
#define GS_IDENTITY      gs_minmax_identity()

#elif defined(GS_OP_ARGMIN) || defined(GS_OP_ARGMAX)
typedef struct {
    ulong index;
    GS_ACC key;
#if GS_ACC_BITS == 32
    uint unused; // so that every word of the accumulator is defined
#endif
} gs_acc;
#if defined(GS_OP_ARGMIN)
#define GS_KEY(v)          GS_KEY_LOW(v)
#define GS_WINS(b, a)      ((b) < (a))
#define GS_WORST           GS_LAST_LOW
#else
#define GS_KEY(v)          GS_KEY_HIGH(v)
#define GS_WINS(b, a)      ((b) > (a))
#define GS_WORST           GS_LAST_HIGH
#endif
#define GS_NO_INDEX 0xfffffffffffffffful
static gs_acc gs_winner(const GS_ACC key, const ulong i)
{
    gs_acc a;
    a.index = i;
    a.key = key;
#if GS_ACC_BITS == 32
    a.unused = 0;
#endif
    return a;
}
static gs_acc gs_combine(const gs_acc a, const gs_acc b)
{
    const uint take_b = GS_WINS(b.key, a.key) || (b.key == a.key && b.index < a.index);
    gs_acc c = a;
    c.index = take_b ? b.index : a.index;
    c.key = take_b ? b.key : a.key;
    return c;
}
#define GS_LIFT(v, i)    gs_winner(GS_KEY(v), i)
#define GS_IDENTITY      gs_winner(GS_WORST, GS_NO_INDEX)
#define GS_RESULT(a, n)  ((a).index)

#elif defined(GS_OP_AND)
typedef GS_ACC gs_acc;
#define GS_LIFT(v, i)    ((gs_acc)(v))
#define GS_LIFT16(v)     (v)
#define GS_IDENTITY      (~(gs_acc)0)
#define GS_EITHER(a, b)  ((a) & (b))
#define GS_RESULT(a, n)  ((GS_OUT)(a))

#elif defined(GS_OP_OR)
typedef GS_ACC gs_acc;
#define GS_LIFT(v, i)    ((gs_acc)(v))
#define GS_LIFT16(v)     (v)
#define GS_IDENTITY      ((gs_acc)0)
#define GS_EITHER(a, b)  ((a) | (b))
#define GS_RESULT(a, n)  ((GS_OUT)(a))

#elif defined(GS_OP_XOR)
typedef GS_ACC gs_acc;
#define GS_LIFT(v, i)    ((gs_acc)(v))
#define GS_LIFT16(v)     (v)
#define GS_IDENTITY      ((gs_acc)0)
#define GS_EITHER(a, b)  ((a) ^ (b))
#define GS_RESULT(a, n)  ((GS_OUT)(a))

#elif defined(GS_OP_ANY)
typedef uint gs_acc;
#define GS_LIFT(v, i)    ((uint)((v) != 0))
#define GS_IDENTITY      0u
#define GS_EITHER(a, b)  ((a) | (b))
#define GS_RESULT(a, n)  ((GS_OUT)(a))

#elif defined(GS_OP_ALL)
typedef uint gs_acc;
#define GS_LIFT(v, i)    ((uint)((v) != 0))
#define GS_IDENTITY      1u
#define GS_EITHER(a, b)  ((a) & (b))
#define GS_RESULT(a, n)  ((GS_OUT)(a))

#elif defined(GS_OP_COUNT)
typedef ulong gs_acc;
#define GS_LIFT(v, i)    ((ulong)((v) != 0))
#define GS_IDENTITY      0ul
#define GS_EITHER(a, b)  ((a) + (b))
#define GS_RESULT(a, n)  ((GS_OUT)(a))

#elif defined(GS_OP_CUSTOM)
// The host writes gs_operator(a, b) and gs_identity() on gs_value; GS_ACC holds one.
typedef GS_ACC gs_acc;
#define GS_LIFT(v, i)    ((gs_acc)(v))
#define GS_EITHER(a, b)  ((gs_acc)gs_operator((gs_value)(a), (gs_value)(b)))
#define GS_RESULT(a, n)  GS_CANONICAL((GS_OUT)(a))

#else
#error "op.cl: the host must define one GS_OP_<NAME>"
#endif

#if defined(GS_VECTOR)
#if defined(GS_FLOAT_KEYS)
// The same images for 16 values. `? :` on vectors selects by component.
#define GS_KEY16(v, nan) ((v) != (v) ? (GS_ACC16)(nan) : GS_FLIP(GS_AS_ACC16(v)))
#define GS_LOW16(v)      GS_KEY16(v, GS_KEY_LEAST)
#define GS_HIGH16(v)     GS_KEY16(v, GS_KEY_TOP)
#else
#define GS_LOW16(v)  (v)
#define GS_HIGH16(v) (v)
#endif
#if defined(GS_OP_MIN) || defined(GS_OP_ARGMIN)
#define GS_LIFT16(v) GS_LOW16(v)
#elif defined(GS_OP_MAX) || defined(GS_OP_ARGMAX)
#define GS_LIFT16(v) GS_HIGH16(v)
#endif
#endif

// A function, so that operands are evaluated once: some of them exchange words with other
// work-items.
#if defined(GS_EITHER)
static gs_acc gs_combine(const gs_acc a, const gs_acc b)
{
    return GS_EITHER(a, b);
}
#endif
#define GS_COMBINE(a, b) gs_combine(a, b)

// The winner of a comparison does not depend on the order of comparing. argmin and argmax may fold
// bare keys and then look for the first element that has the winning one: GS_SEARCH.
#if defined(GS_OP_ARGMIN) || defined(GS_OP_ARGMAX)
#define GS_SEARCH
#define GS_FOLDED     GS_ACC
#define GS_FOLD(a, b) (GS_WINS(b, a) ? (b) : (a))
#elif defined(GS_EITHER)
#define GS_FOLDED     gs_acc
#define GS_FOLD(a, b) GS_EITHER(a, b)
#endif
