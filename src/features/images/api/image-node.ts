/** Images as one node asks another for them. Pure. */

/** First part of the path of an image at the server of a node's agent; the name of the Image follows. */
export const imagesPath = '/images';

export const nodePath = (name: string): string => `${imagesPath}/${encodeURIComponent(name)}`;
