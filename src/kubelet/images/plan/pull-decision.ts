/** What an image's name means, and whether it is fetched. */
import type { Container } from '../../../api/core/v1/types.gen.ts';

// github.com/distribution/reference: [domain[:port]/]path[:tag][@digest], lower case in the path.
const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const host = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domain = `(?:${host}(?:\\.${host})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const reference = new RegExp(
  `^(?:${domain}/)?${component}(?:/${component})*(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

export const isImageName = (name: string) => reference.test(name);

/** Why there is no image, as the status of a container says it. */
export type ImageFailureReason =
  | 'ErrImagePull'
  | 'ErrImageNeverPull'
  | 'ImageInspectError'
  | 'InvalidImageName'
  /** An image of a function that the pod may not have. */
  | 'FunctionImageRefused'
  | 'FunctionBuildFailed'
  /** The image of the one file could not be made. */
  | 'OwnImageFailed';

export type PullDecision = 'use' | 'pull' | 'never';

/** Of a container, or of a volume that is an image. */
export interface WantedImage {
  readonly image: string;
  readonly imagePullPolicy?: Container['imagePullPolicy'];
}

/** Kubernetes' default: Always for `:latest` and no tag, else IfNotPresent. */
export function pullDecision(
  { image, imagePullPolicy: policy }: WantedImage,
  present: boolean,
): PullDecision {
  if (policy === 'Always' || (policy === undefined && isLatest(image))) return 'pull';
  if (present) return 'use';
  return policy === 'Never' ? 'never' : 'pull';
}

/** What its name stands for may change without a new name. A digest is behind a colon like a tag. */
function isLatest(image: string): boolean {
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest';
}
