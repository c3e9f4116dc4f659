/** What a handler of a probe or of a hook came to. */
export type Result =
  | 'success'
  /** A success that somebody should know more of. */
  | 'warning'
  | 'failure'
  /** It could not be found out: nobody's fault that is asked. */
  | 'unknown';

export interface Outcome {
  readonly result: Result;
  /** As Kubernetes words it; at most `maxOutputBytes`. */
  readonly output: string;
  /** Of a program that has ended. */
  readonly exitCode?: number;
  /** The engine went away: what was asked for may have been done, or not. */
  readonly isLost?: boolean;
  /** What is still being ended after the time was over: resolves with the problem if it could not be. Never rejects. */
  readonly rest?: Promise<string | undefined>;
}

export const maxOutputBytes = 10 * 1024;

export const success = (output: string): Outcome => ({ result: 'success', output });
export const warning = (output: string): Outcome => ({ result: 'warning', output });
export const failure = (output: string): Outcome => ({ result: 'failure', output });
export const unknown = (output: string): Outcome => ({ result: 'unknown', output });
