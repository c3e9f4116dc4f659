/** The names of what functions are built into. Pure. */

const registry = 'minik8s.function';
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const shape = new RegExp(`^minik8s\\.function/(${label})/(${label}):([\\w.-]{1,128})$`);

/** `hash` is of everything that the image is made from. */
export const functionImage = (namespace: string, name: string, hash: string) =>
  `${registry}/${namespace}/${name}:${hash}`;

/** Whether nodes build an image of this name, whoever's it is. */
export const isFunctionImage = (image: string) => image.startsWith(`${registry}/`);

/** The namespace whose pods may have the image; undefined for another image. */
export const namespaceOfFunctionImage = (image: string): string | undefined =>
  isFunctionImage(image) ? (image.split('/')[1] ?? '') : undefined;

export interface FunctionImageName {
  readonly namespace: string;
  readonly name: string;
  readonly hash: string;
}

/** What the name of a function's image says; undefined for one that no function has. */
export function parseFunctionImage(image: string): FunctionImageName | undefined {
  const [, namespace, name, hash] = shape.exec(image) ?? [];
  return namespace && name && hash ? { namespace, name, hash } : undefined;
}
