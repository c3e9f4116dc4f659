/** Limits of a workflow. The sizes of data and names, and the length of a history, are those of AWS. */

/** Maximum bytes of JSON of a state's input or output. */
export const mostData = 256 * 1024;
/** Maximum nesting of JSON values in that data. */
export const mostDataDepth = 200;
/** Maximum bytes of JSON that a run holds at a time: it is stored as one object, and etcd accepts 1.5 MiB. */
export const mostRunData = 1024 * 1024;
/** Maximum entries of the history of one run. */
export const mostEvents = 25_000;
/**
 * Maximum states that are entered in one call: a workflow of states that never wait must leave room for
 * others.
 */
export const mostTransitions = 100;
/** Maximum concurrent iterations of one Map, unless MaxConcurrency is lower. */
export const mostConcurrency = 40;

/** Maximum characters of a state's name. */
export const mostNameLength = 80;
/** Maximum states of one definition, including those of branches and iterations. */
export const mostStates = 1000;
/** Maximum nesting of machines: branches in iterations in branches. */
export const mostNesting = 10;
/** Maximum characters of one path, intrinsic function or pattern. */
export const mostPathLength = 2048;
/** Maximum characters of one JSONata expression. */
export const mostExpressionLength = 8192;
/** Maximum characters of all expressions of a definition together; parsing takes some microseconds each. */
export const mostExpressions = 128 * 1024;
/** Maximum number of `%` in one expression: resolving its parent references takes quadratic time. */
export const mostParents = 100;
/** Maximum nesting of JSON values in a definition: templates and rules. */
export const mostDepth = 100;
/** Maximum bytes of JSON of a definition. */
export const mostDefinition = 512 * 1024;
/** Maximum values that one path may examine. */
export const mostPathWork = 100_000;
/**
 * Maximum values that all paths, functions and rules of one state may examine together. Also the maximum of
 * one call, after which other work gets its turn.
 */
export const mostStateWork = 200_000;
export const mostTurnWork = 100_000;
/** Maximum seconds of TimeoutSeconds and similar fields. */
export const mostSeconds = 99_999_999;
/** Maximum characters of an error's name and of its cause, which external services write. */
export const mostErrorName = 256;
export const mostCause = 32_768;
