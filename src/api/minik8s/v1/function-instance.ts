/** What marks a pod as an instance of a function. */

/** Label: name of the Function. */
export const functionLabel = 'minik8s.io/function';

/** Label: name of the FunctionVersion, which the node reads that builds its image. */
export const functionVersionLabel = 'minik8s.io/function-version';

/** The port that an instance answers on, and the value of its variable PORT. */
export const instancePort = 8080;
