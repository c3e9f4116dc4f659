/** The files and checks for assigning a warm instance to a function. Pure. */
import type { Pod } from '../../../../api/core/v1/pod/pod.ts';
import { functionLabel, functionVersionLabel } from '../../api/function-instance.ts';
import type { FunctionVersion } from '../../api/function-version.ts';
import { instanceVariables, warmLabel, warmProblem, warmVersion } from '../../api/warm-instance.ts';
import { archiveOf, below, ownFolder, programFiles, programFolder } from './image-contents.ts';

/** File of the instance's program with its new function's variables. */
export const givenFile = 'given.json';

/** Returns true for a pod of a warm pool, whether it waits or has been assigned to a function. */
export const isWarm = ({ metadata }: Pod): boolean => metadata.labels?.[warmLabel] !== undefined;

/**
 * Returns the name of the version that a warm pod has been assigned to; undefined for a waiting pod and for
 * every other pod.
 */
export function givenVersion({ metadata }: Pod): string | undefined {
  const {
    [warmLabel]: runtime,
    [functionLabel]: name,
    [functionVersionLabel]: version,
  } = metadata.labels ?? {};
  return runtime !== undefined && name !== undefined ? version : undefined;
}

/** Returns the reason why the pod may not become an instance of the version; undefined when it may. */
export function givenProblem(
  { metadata, spec }: Pod,
  version: FunctionVersion,
  digest: (text: string) => string,
): string | undefined {
  const what = `FunctionVersion ${version.metadata.name}`;
  const problem = warmProblem(version);
  if (problem !== undefined) return `${what} cannot be given to an instance that waited: ${problem}`;
  const { runtime, baseImage } = version.spec;
  if (version.spec.function !== metadata.labels?.[functionLabel])
    return `${what} belongs to function ${version.spec.function}, not ${metadata.labels?.[functionLabel]}`;
  const namespace = metadata.namespace ?? '';
  const needed = runtime && baseImage && warmVersion(namespace, runtime, baseImage, digest).spec.image;
  const image = spec.containers[0]?.image;
  return image === needed ? undefined : `${what} needs an instance of ${needed}, but the pod has ${image}`;
}

/** Returns a tar archive for the root of the container. Throws BuildError for files with invalid paths. */
export function givenArchive(version: FunctionVersion): Uint8Array {
  const env = Object.fromEntries(instanceVariables(version).map(({ name, value = '' }) => [name, value]));
  const content = Buffer.from(JSON.stringify({ env }));
  return archiveOf([
    ...below(programFolder, programFiles(version)),
    ...below(ownFolder, [{ path: givenFile, content }]),
  ]);
}
