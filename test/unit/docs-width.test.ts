/** Lines of the documentation are at most as wide as the code, so that a diff shows single sentences. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '../..');
const maxCharacters = 110;
/** Pages that a program generates or compares line by line. */
const generated = ['docs/conformance.md', 'docs/pod-fields.md'];
const pages = execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && !generated.includes(path));

/** Returns the numbers of wide lines. Headings, table rows, commands and single words cannot be wrapped. */
function wideLines(text: string): number[] {
  let fenced = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) fenced = !fenced;
    if (fenced || /^(?:#|\||>| {4})/.test(line) || !line.trim().includes(' ')) return [];
    return [...line].length > maxCharacters ? [index + 1] : [];
  });
}

describe('lines of the documentation', () => {
  for (const path of pages) {
    it(`${path} has no line of more than ${maxCharacters} characters`, () => {
      assert.deepEqual(wideLines(readFileSync(join(root, path), 'utf8')), []);
    });
  }
  it('are measured in paragraphs and lists alone', () => {
    const wide = 'word '.repeat(30);
    assert.deepEqual(
      wideLines(`${wide}\n- ${wide}\n# ${wide}\n| ${wide}\n    ${wide}\n\`\`\`\n${wide}\n\`\`\`\n`),
      [1, 2],
    );
  });
});
