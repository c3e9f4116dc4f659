/** The decision whether an image is pulled. */
import { pullPolicyFor } from '../../../api/core/v1/pod/spec-defaults.ts';
import type { Container } from '../../../api/core/v1/types.gen.ts';

/** Reasons of a missing image in a container's status. */
export type ImageFailureReason =
  | 'ErrImagePull'
  | 'ErrImageNeverPull'
  | 'ImageInspectError'
  | 'InvalidImageName'
  /** The image belongs to a function, and the pod may not use it. */
  | 'FunctionImageRefused'
  | 'FunctionBuildFailed'
  /** The image of the single-file program could not be made. */
  | 'OwnImageFailed';

export type PullDecision = 'use' | 'pull' | 'never';

/** The image of a container, or of a volume that is an image. */
export interface WantedImage {
  readonly image: string;
  readonly imagePullPolicy?: Container['imagePullPolicy'];
}

/** Returns the decision; an image without a policy has the one that Kubernetes gives it by default. */
export function pullDecision(
  { image, imagePullPolicy: policy }: WantedImage,
  present: boolean,
): PullDecision {
  const decided = policy ?? pullPolicyFor(image);
  if (decided === 'Always') return 'pull';
  if (present) return 'use';
  return decided === 'Never' ? 'never' : 'pull';
}
