/** Names of the images of functions. Pure. */

const registry = 'minik8s.function';
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const shape = new RegExp(`^minik8s\\.function/(${label})/(${label}):([\\w.-]{1,128})$`);

/** Returns the image's name; `hash` is the hash of everything that the image is built from. */
export const functionImage = (namespace: string, name: string, hash: string) =>
  `${registry}/${namespace}/${name}:${hash}`;

/** Returns true if nodes build an image of this name, for any namespace. */
export const isFunctionImage = (image: string) => image.startsWith(`${registry}/`);

/** Returns the namespace whose pods may use the image; undefined for another image. */
export const namespaceOfFunctionImage = (image: string): string | undefined =>
  isFunctionImage(image) ? (image.split('/')[1] ?? '') : undefined;

export interface FunctionImageName {
  readonly namespace: string;
  readonly name: string;
  readonly hash: string;
}

/** Parses the name of a function's image; undefined for any other name. */
export function parseFunctionImage(image: string): FunctionImageName | undefined {
  const [, namespace, name, hash] = shape.exec(image) ?? [];
  return namespace && name && hash ? { namespace, name, hash } : undefined;
}
