/** How work of the container engine fails. */
export type RuntimeErrorReason =
  | 'Unavailable'
  | 'NotFound'
  | 'Conflict'
  | 'PullFailed'
  | 'InvalidImageName'
  | 'CannotRun'
  /** A container was not started because the sandbox that it is in has ended. */
  | 'SandboxEnded'
  | 'Failed';

/** A failure of the engine, with what a pod's status must tell apart. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly reason: RuntimeErrorReason;

  constructor(reason: RuntimeErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
