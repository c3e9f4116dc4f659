/** Result of a handler of a probe or a hook. */
export type Result =
  | 'success'
  /** A success with information that should be reported. */
  | 'warning'
  | 'failure'
  /** The handler could not be run; this is not a failure of the container. */
  | 'unknown';

export interface Outcome {
  readonly result: Result;
  /** Output, worded as in Kubernetes; at most `maxOutputBytes`. */
  readonly output: string;
  /** Exit code of a program that has ended. */
  readonly exitCode?: number;
  /** True when the engine became unreachable: the handler may or may not have run. */
  readonly isLost?: boolean;
  /**
   * Pending cleanup after the timeout: resolves with the problem if the program could not be ended. Never
   * rejects.
   */
  readonly rest?: Promise<string | undefined>;
}

export const maxOutputBytes = 10 * 1024;

export const success = (output: string): Outcome => ({ result: 'success', output });
export const warning = (output: string): Outcome => ({ result: 'warning', output });
export const failure = (output: string): Outcome => ({ result: 'failure', output });
export const unknown = (output: string): Outcome => ({ result: 'unknown', output });
