/** Names of images as Docker writes them: `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`. Pure. */

const part = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*';
const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(?:${label}(?:\\.${label})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const algorithm = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*';
const reference = new RegExp(
  `^(?:${host}/)?${part}(?:/${part})*(?::\\w[\\w.-]{0,127})?(?:@${algorithm}:[0-9a-fA-F]{32,})?$`,
);

/** Maximum length of the name of an image. */
const maxLength = 1024;

export const isImageReference = (text: string): boolean => text.length <= maxLength && reference.test(text);
