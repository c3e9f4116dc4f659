/** The decision whether an image is pulled. */
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

/** Returns the decision by Kubernetes' default: Always for `:latest` and no tag, otherwise IfNotPresent. */
export function pullDecision(
  { image, imagePullPolicy: policy }: WantedImage,
  present: boolean,
): PullDecision {
  if (policy === 'Always' || (policy === undefined && isLatest(image))) return 'pull';
  if (present) return 'use';
  return policy === 'Never' ? 'never' : 'pull';
}

/** Returns true when the image behind the name may change. A digest follows a colon, as a tag does. */
function isLatest(image: string): boolean {
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest';
}
