/** The FunctionVersion that a Function's spec stands for, named by its content. Pure. */
import type { Fn } from '../../api/minik8s/v1/function.ts';
import { functionImage } from '../../api/minik8s/v1/function-image.ts';
import { functionLabel } from '../../api/minik8s/v1/function-instance.ts';
import type { FunctionVersion } from '../../api/minik8s/v1/function-version.ts';
import { sortKeys } from '../../apimachinery/equality.ts';
import type { Draft } from '../../apimachinery/meta.ts';
import { findCondition } from '../../controller-runtime/conditions.ts';

/** The image of each runtime, that the files are added to. */
export type RuntimeImages = Readonly<Record<'nodejs' | 'python', string>>;

/** How much of a hash is in the name of a version. */
const nameDigits = 10;
const imageDigits = 32;

/** Of a text, in hex; equal texts have equal ones, and nobody finds two others. */
export type Digest = (text: string) => string;

/** Equal contents give equal names, so a spec that comes back finds its version again. */
export function versionOf(
  { metadata, spec }: Fn,
  images: RuntimeImages,
  digest: Digest,
): Draft<FunctionVersion> {
  // The order in which keys were written, and keys without a value, mean nothing.
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

/** Libraries that another version with the same image was built with: both mean the same content. */
export function sharedLock(
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
