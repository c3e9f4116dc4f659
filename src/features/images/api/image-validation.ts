/** Validation of Images. Pure. */
import { isImageName } from '../../../api/core/v1/container/image-name.ts';
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { isFunctionImage } from '../../functions/api/function-image.ts';
import { isOwnImage } from '../../functions/api/own-image.ts';
import { digestPattern, imageSizeOf, maxConfigBytes, maxImageBytes, maxLayers } from './image-content.ts';
import { fullImageName, objectNameOf } from './image-name.ts';
import type { Image, ImageBlob } from './types.gen.ts';

export function validateImage({ metadata, spec }: Image): StatusCause[] {
  const causes = nameCauses(metadata.name, spec.image);
  causes.push(...blobCauses('spec.config', spec.config, maxConfigBytes));
  for (const [index, layer] of spec.layers.entries())
    causes.push(...blobCauses(`spec.layers[${index}]`, layer, maxImageBytes));
  if (spec.layers.length === 0) causes.push(requiredCause('spec.layers', 'an image has at least one layer'));
  if (spec.layers.length > maxLayers)
    causes.push(invalidCause('spec.layers', spec.layers.length, `must have at most ${maxLayers} layers`));
  if (causes.length === 0 && imageSizeOf(spec) > maxImageBytes)
    causes.push(invalidCause('spec', imageSizeOf(spec), `may have at most ${maxImageBytes} bytes`));
  return causes;
}

/** Returns why a name cannot be that of an image that the cluster holds; undefined if it can. */
export function imageNameProblem(name: string): string | undefined {
  if (!isImageName(name)) return 'is not the name of an image';
  const full = fullImageName(name);
  if (full === undefined) return 'has a digest: load the image under a name with a tag';
  // Images of functions may be used in their own namespace only; nodes make the image of minik8s themselves.
  if (isFunctionImage(name) || isOwnImage(name)) return 'is reserved: nodes make this image themselves';
  return undefined;
}

function nameCauses(name: string, image: string): StatusCause[] {
  const problem = imageNameProblem(image);
  if (problem !== undefined) return [invalidCause('spec.image', image, problem)];
  const full = fullImageName(image);
  if (full !== image) return [invalidCause('spec.image', image, `must be given in full: ${full}`)];
  const expected = objectNameOf(image);
  return name === expected ? [] : [invalidCause('metadata.name', name, `must be ${expected} for this image`)];
}

function blobCauses(at: string, { digest, size }: ImageBlob, max: number): StatusCause[] {
  const causes: StatusCause[] = [];
  if (!digestPattern.test(digest))
    causes.push(invalidCause(`${at}.digest`, digest, 'must be sha256: and 64 hexadecimal digits'));
  if (size < 1 || size > max)
    causes.push(invalidCause(`${at}.size`, size, `must be between 1 and ${max}, inclusive`));
  return causes;
}
