/**
 * The image with the minik8s executable. Each node builds it from its own executable, so it is never pulled.
 * Pure.
 */

const registry = 'minik8s.own';

/** The only program of the image is /minik8s, which is the container's command. */
export const ownImage = `${registry}/minik8s:node`;
export const ownProgram = '/minik8s';

export const isOwnImage = (image: string) => image.startsWith(`${registry}/`);

/**
 * Returns the name of the image in a container engine. Nodes with different files or owners may share an
 * engine, so the name contains a hash.
 */
export const ownImageOf = (hash: string) => `${registry}/minik8s:${hash}`;
