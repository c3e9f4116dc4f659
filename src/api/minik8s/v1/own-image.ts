/** The image that holds the one file: each node makes it of the file that it runs itself, so it is never pulled. Pure. */

const registry = 'minik8s.own';

/** Its only program is /minik8s, which is the container's command. */
export const ownImage = `${registry}/minik8s:node`;
export const ownProgram = '/minik8s';

export const isOwnImage = (image: string) => image.startsWith(`${registry}/`);

/** What an engine calls it that nodes of several files, or several owners, may share. */
export const ownImageOf = (hash: string) => `${registry}/minik8s:${hash}`;
