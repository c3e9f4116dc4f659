/** The failure of a container's start. */
import type { StartFailureReason } from './plan/start.ts';

interface StartErrorOptions extends ErrorOptions {
  readonly image?: string;
}

/** A failed start that is reported in the pod's status; other errors are thrown as they are. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly reason: StartFailureReason;
  /** Name of the missing image, if that is the cause. */
  readonly image: string | undefined;

  constructor(reason: StartFailureReason, message: string, options?: StartErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.image = options?.image;
  }
}
