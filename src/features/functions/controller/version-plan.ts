/** Builds the FunctionVersion for a Function's spec, named by its content. Pure. */

import { findCondition } from '../../../apimachinery/conditions.ts';
import { sortKeys } from '../../../apimachinery/equality.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import type { Fn } from '../api/function.ts';
import { functionImage } from '../api/function-image.ts';
import { functionLabel } from '../api/function-instance.ts';
import type { FunctionVersion } from '../api/function-version.ts';

/** Base image of each runtime, to which the files are added. */
export type RuntimeImages = Readonly<Record<'nodejs' | 'python', string>>;

/** Number of hash digits in the name of a version. */
const nameDigits = 10;
const imageDigits = 32;

/** Returns the hash of a text in hex. It must be deterministic and resistant to collisions. */
export type Digest = (text: string) => string;

/**
 * Returns the version of the spec. Equal contents get equal names, so a spec that is restored finds its
 * version again.
 */
export function versionOf(
  { metadata, spec }: Fn,
  images: RuntimeImages,
  digest: Digest,
): Draft<FunctionVersion> {
  // The order of keys and keys without a value are insignificant.
  const hash = (content: unknown) => digest(JSON.stringify(sortKeys(content)));
  const { name, namespace = '' } = metadata;
  const { runtime, handler, files, binaryFiles, env, resources, timeoutSeconds, concurrency } = spec;
  const baseImage = runtime && images[runtime];
  const program = { runtime, baseImage, handler, files, binaryFiles };
  const image = spec.image ?? functionImage(namespace, name, hash(program).slice(0, imageDigits));
  const whole = { ...program, image, env, resources, timeoutSeconds, concurrency };
  return {
    apiVersion: 'minik8s.io/v1',
    kind: 'FunctionVersion',
    metadata: {
      name: `${name}-${hash(whole).slice(0, nameDigits)}`,
      namespace,
      labels: { [functionLabel]: name },
    },
    spec: JSON.parse(JSON.stringify({ function: name, ...whole })) as FunctionVersion['spec'],
  };
}

/**
 * Returns the status, with the lock of the libraries, of another version that has the same image and is
 * built; undefined if there is none, or if the version itself has a lock or is built.
 */
export function statusOfTwin(
  { metadata, spec, status }: FunctionVersion,
  versions: readonly FunctionVersion[],
): FunctionVersion['status'] | undefined {
  if (status?.lock !== undefined) return undefined;
  const twin = versions.find(
    (other) =>
      other.metadata.name !== metadata.name &&
      other.spec.image === spec.image &&
      findCondition(other.status?.conditions, 'Built')?.status === 'True',
  );
  if (!twin || findCondition(status?.conditions, 'Built')?.status === 'True') return undefined;
  return twin.status;
}
