/**
 * Returns the anchor of a heading in Markdown as GitHub makes it: lower case, dashes for blanks, no other
 * marks.
 */
export const anchorOf = (heading: string): string =>
  heading
    .replace(/`/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
