/** Decides which pod may use which image of a function. Pure. */
import type { Pod } from '../../../../api/core/v1/pod/pod.ts';
import { isFunctionImage, parseFunctionImage } from '../../api/function-image.ts';
import { functionVersionLabel } from '../../api/function-instance.ts';
import type { FunctionVersion } from '../../api/function-version.ts';

/**
 * Returns the reason why the pod may not use the function's image that it names; undefined when it may. Must
 * be called before every use: an image may contain data that only its namespace may read.
 */
export function useProblem({ metadata }: Pod, image: string): string | undefined {
  const named = parseFunctionImage(image);
  if (!named) return `${JSON.stringify(image)} is not the name of a function's image`;
  const { namespace = '', labels = {} } = metadata;
  if (named.namespace !== namespace)
    return `${JSON.stringify(image)} belongs to a function of namespace ${named.namespace}: a pod of namespace ${namespace} may not use it`;
  if (!labels[functionVersionLabel])
    return `a pod with the image of a function needs the label ${functionVersionLabel}, the name of the FunctionVersion that it is made from`;
  return undefined;
}

/**
 * Returns the reason why the image cannot be built from the version that the pod's label names; else
 * undefined.
 */
export function versionProblem(version: FunctionVersion, image: string): string | undefined {
  const { metadata, spec } = version;
  const what = `FunctionVersion ${metadata.name}`;
  if (spec.image !== image)
    return `${what} has the image ${JSON.stringify(spec.image)}, not ${JSON.stringify(image)}`;
  if (parseFunctionImage(image)?.name !== spec.function)
    return `${what} belongs to function ${spec.function}, but its image is named after another: ${JSON.stringify(image)}`;
  if (spec.runtime === undefined || !spec.baseImage || !spec.handler)
    return `${what} has no runtime, handler or baseImage to build from`;
  if (isFunctionImage(spec.baseImage)) return `${what}: baseImage cannot be the image of a function`;
  return undefined;
}

/**
 * Returns those names of an image that are names of functions' images. A pod that refers to an image by its
 * id names no namespace, so the names of the image have to be checked.
 */
export const functionNames = (names: readonly string[]) => names.filter(isFunctionImage);
