/**
 * The outcome of a command, sent to its client as the last message (k8s.io/kubelet
 * pkg/cri/streaming/remotecommand). Pure.
 */

export type Outcome =
  | { readonly exitCode: number }
  /** The command could not be run, or could not be followed to its end. */
  | { readonly failure: string };

/** Returns the Status of protocols from v4 on, as JSON: kubectl exits with the code of cause ExitCode. */
export function outcomeStatus(outcome: Outcome): string {
  return JSON.stringify(statusOf(outcome));
}

function statusOf(outcome: Outcome) {
  if ('failure' in outcome) {
    return {
      metadata: {},
      status: 'Failure',
      message: `Internal error occurred: ${outcome.failure}`,
      reason: 'InternalError',
      details: { causes: [{ message: outcome.failure }] },
      code: 500,
    };
  }
  if (outcome.exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: nonZero(outcome.exitCode),
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(outcome.exitCode) }] },
  };
}

/** Returns the text for protocols before v4: '' after a success. */
export function outcomeText(outcome: Outcome): string {
  if ('failure' in outcome) return outcome.failure;
  return outcome.exitCode === 0 ? '' : nonZero(outcome.exitCode);
}

const nonZero = (exitCode: number) => `command terminated with non-zero exit code: exit status ${exitCode}`;
