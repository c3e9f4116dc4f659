/** The action of starting a container, and the reasons of a failed start. */
import type { ImageFailureReason } from '../../images/plan/pull-decision.ts';

export interface StartContainer {
  readonly type: 'startContainer';
  readonly name: string;
  readonly sandboxId: string;
  readonly attempt: number;
  readonly crashes: number;
  /**
   * Id of the target container, whose processes the started container sees; set only if the pod names a
   * target and the target runs.
   */
  readonly processesOf?: string;
}

export type StartFailureReason =
  | ImageFailureReason
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError';
