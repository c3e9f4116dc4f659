/** The names of what functions are built into. Pure. */

const registry = 'minik8s.function';

/** `hash` is of everything that the image is made from. */
export const functionImage = (namespace: string, name: string, hash: string) =>
  `${registry}/${namespace}/${name}:${hash}`;

/** Whether nodes build an image of this name, whoever's it is. */
export const isFunctionImage = (image: string) => image.startsWith(`${registry}/`);

/** The namespace whose pods may have the image; undefined for another image. */
export const namespaceOfFunctionImage = (image: string): string | undefined =>
  isFunctionImage(image) ? (image.split('/')[1] ?? '') : undefined;
