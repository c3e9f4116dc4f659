/** What an image's name and its own configuration mean for a container. */
import type { Container } from '../../api/core/v1/types.gen.ts';
import type { RuntimeImage } from '../runtime/runtime.ts';

// github.com/distribution/reference: [domain[:port]/]path[:tag][@digest], lower case in the path.
const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const host = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domain = `(?:${host}(?:\\.${host})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const reference = new RegExp(
  `^(?:${domain}/)?${component}(?:/${component})*(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

export const isImageName = (name: string) => reference.test(name);

export type PullDecision = 'use' | 'pull' | 'never';

/** Kubernetes' default: Always for `:latest` and no tag, else IfNotPresent. */
export function pullDecision(
  container: Pick<Container, 'image' | 'imagePullPolicy'>,
  present: boolean,
): PullDecision {
  const { image, imagePullPolicy: policy } = container;
  if (policy === 'Always' || (policy === undefined && isLatest(image))) return 'pull';
  if (present) return 'use';
  return policy === 'Never' ? 'never' : 'pull';
}

/** What its name stands for may change without a new name. A digest is behind a colon like a tag. */
function isLatest(image: string): boolean {
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest';
}

/** `command` replaces the entrypoint and with it the image's own arguments; `args` replaces the arguments. */
export function containerArgv(
  container: { readonly command?: readonly string[]; readonly args?: readonly string[] },
  image: Pick<RuntimeImage, 'entrypoint' | 'command'>,
): readonly string[] {
  const { command = [], args = [] } = container;
  if (command.length > 0) return [...command, ...args];
  return [...image.entrypoint, ...(args.length > 0 ? args : image.command)];
}
