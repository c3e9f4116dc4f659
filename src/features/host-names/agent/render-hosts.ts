/** A block of a node in /etc/hosts, between two marker lines. Pure. */

/**
 * Returns the file with the names in the block of `owner`; without names the block is removed. Other lines
 * are unchanged.
 */
export function renderHostsFile(
  text: string,
  owner: string,
  address: string,
  names: readonly string[],
): string {
  const [begin, end] = [`# minik8s begin ${owner}`, `# minik8s end ${owner}`];
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const block = names.length === 0 ? [] : [begin, ...names.map((name) => `${address}\t${name}`), end];
  const all = [...outsideOf(lines, begin, end), ...block];
  return all.length === 0 ? '' : `${all.join('\n')}\n`;
}

/** Returns the lines outside of the block. If a block has no end, only its marker is removed. */
function outsideOf(lines: readonly string[], begin: string, end: string): string[] {
  let inside = false;
  return lines.filter((line) => {
    const isKept = !inside && line !== begin && line !== end;
    if (line === begin) inside = lines.includes(end);
    if (line === end) inside = false;
    return isKept;
  });
}
