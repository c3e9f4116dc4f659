/** How much a workflow may be and do. The sizes of data and names, and the length of a history, are those of AWS. */

/** Bytes of JSON that one state may be given or give. */
export const mostData = 256 * 1024;
/** JSON values in one another in that data. */
export const mostDataDepth = 200;
/** Bytes of JSON of everything that a run holds at a time: it is stored as one object, and etcd takes 1.5 MiB. */
export const mostRunData = 1024 * 1024;
/** Entries of the history of one run. */
export const mostEvents = 25_000;
/** States that are entered in one call: a workflow of states that never wait must leave room for others. */
export const mostTransitions = 100;
/** Iterations of one Map at a time where MaxConcurrency does not say less. */
export const mostConcurrency = 40;

/** Characters of a state's name. */
export const mostNameLength = 80;
/** States of one definition, those of branches and iterations too. */
export const mostStates = 1000;
/** Machines in one another: branches in iterations in branches. */
export const mostNesting = 10;
/** Characters of one path, intrinsic function or pattern. */
export const mostPathLength = 2048;
/** Characters of one JSONata expression. */
export const mostExpressionLength = 8192;
/** Characters of all expressions of a definition together: to read them takes some microseconds each. */
export const mostExpressions = 128 * 1024;
/** `%` in one expression: to find the parents that it asks for takes the square of their number. */
export const mostParents = 100;
/** JSON values in one another in a definition: templates and rules. */
export const mostDepth = 100;
/** Bytes of JSON of a definition. */
export const mostDefinition = 512 * 1024;
/** Values that one path may look at. */
export const mostPathWork = 100_000;
/** Values that all paths, functions and rules of one state may look at together, and that are looked at in one call before others have their turn. */
export const mostStateWork = 200_000;
export const mostTurnWork = 100_000;
/** Seconds of TimeoutSeconds and the like. */
export const mostSeconds = 99_999_999;
/** Characters of an error's name, and of its cause: whoever is asked writes them. */
export const mostErrorName = 256;
export const mostCause = 32_768;
