/** The action of starting a container, and the reasons of a failed start. */
import type { ImageFailureReason } from '../../images/plan/pull-decision.ts';

export interface StartContainer {
  readonly type: 'startContainer';
  readonly name: string;
  readonly sandboxId: string;
  readonly attempt: number;
  readonly crashes: number;
  /**
   * Id of the container whose processes this one sees; set only where the pod names one and that container
   * runs.
   */
  readonly processesOf?: string;
}

export type StartFailureReason =
  | ImageFailureReason
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError';
