/** Limits of a workflow. The sizes of data and names, and the length of a history, are those of AWS. */

/** Maximum bytes of JSON of a state's input or output. */
export const maxData = 256 * 1024;
/** Maximum nesting of JSON values in that data. */
export const maxDataDepth = 200;
/** Maximum bytes of JSON that a run holds at a time: it is stored as one object, and etcd accepts 1.5 MiB. */
export const maxRunData = 1024 * 1024;
/** Maximum entries of the history of one run. */
export const maxEvents = 25_000;
/**
 * Maximum states that are entered in one call: a workflow of states that never wait must leave room for
 * others.
 */
export const maxTransitions = 100;
/** Maximum concurrent iterations of one Map, unless MaxConcurrency is lower. */
export const maxConcurrency = 40;

/** Maximum characters of a state's name. */
export const maxNameLength = 80;
/** Maximum states of one definition, including those of branches and iterations. */
export const maxStates = 1000;
/** Maximum nesting of machines: branches in iterations in branches. */
export const maxNesting = 10;
/** Maximum characters of one path, intrinsic function or pattern. */
export const maxPathLength = 2048;
/** Maximum characters of one JSONata expression. */
export const maxExpressionLength = 8192;
/** Maximum characters of all expressions of a definition together; parsing takes some microseconds each. */
export const maxExpressions = 128 * 1024;
/** Maximum number of `%` in one expression: resolving its parent references takes quadratic time. */
export const maxParents = 100;
/** Maximum nesting of JSON values in a definition: templates and rules. */
export const maxDepth = 100;
/** Maximum bytes of JSON of a definition. */
export const maxDefinition = 512 * 1024;
/** Maximum values that one path may examine. */
export const maxPathWork = 100_000;
/**
 * Maximum values that all paths, functions and rules of one state may examine together. Also the maximum of
 * one call, after which other work gets its turn.
 */
export const maxStateWork = 200_000;
export const maxTurnWork = 100_000;
/** Maximum seconds of TimeoutSeconds and similar fields. */
export const maxSeconds = 99_999_999;
/** Maximum characters of an error's name and of its cause, which external services write. */
export const maxErrorName = 256;
export const maxCause = 32_768;
