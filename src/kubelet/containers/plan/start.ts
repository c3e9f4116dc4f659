/** What is said of the start of a container, and of one that did not work. */
import type { ImageFailureReason } from '../../images/plan/pull-decision.ts';

export interface StartContainer {
  readonly type: 'startContainer';
  readonly name: string;
  readonly sandboxId: string;
  readonly attempt: number;
  readonly crashes: number;
  /** The container whose processes this one sees, by id; only where the pod names one, and that runs. */
  readonly processesOf?: string;
}

export type StartFailureReason =
  | ImageFailureReason
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError';
