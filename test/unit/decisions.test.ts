/** docs/decisions/README.md: the list of the records, with the state of each. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const folder = join(import.meta.dirname, '../../docs/decisions');
const records = globSync('[0-9]*.md', { cwd: folder }).sort();

interface Entry {
  readonly number: string;
  readonly file: string;
  readonly state: string;
}

/** Returns the entries of a list of records: `- [1. Title](0001-title.md) (state): what was decided`. */
const entriesOf = (text: string): Entry[] =>
  text
    .split(/^- (?=\[\d)/m)
    .slice(1)
    .map((item) => item.replace(/\s+/g, ' '))
    .map((item) => {
      const [, number = '', file = '', state = ''] =
        /^\[(\d+)\. [^\]]+\]\(([\w-]+\.md)\) \(((?:[^()]|\([^)]*\))+)\): \S/.exec(item) ??
        assert.fail(`no record and state in: ${item}`);
      return { number, file, state };
    });

const others = String.raw`\[\d+\]\([\w-]+\.md\)(?:(?:, | and )\[\d+\]\([\w-]+\.md\))*`;
const stateForm = new RegExp(
  [
    'in force',
    `in force, extended by (?:${others}.*)`,
    `changed by (?:${others}): .+`,
    'untrue in a detail: .+',
    `replaced by (?:${others})`,
  ]
    .map((form) => `^${form}$`)
    .join('|'),
);

describe('docs/decisions/README.md', () => {
  const listed = () => entriesOf(readFileSync(join(folder, 'README.md'), 'utf8'));

  it("contains each record once, under the record's number", () => {
    const entries = listed();
    assert.deepEqual(entries.map(({ file }) => file).toSorted(), records);
    for (const { number, file } of entries) assert.equal(Number(file.slice(0, 4)), Number(number), file);
  });

  it('gives each record one of the states that the page names', () => {
    assert.deepEqual(
      listed().filter(({ state }) => !stateForm.test(state)),
      [],
    );
  });

  it('is rejected if a record has no state or an unknown state', () => {
    assert.throws(() => entriesOf('- [1. One file](0001-one-file.md): the product is one file'));
    const [entry] = entriesOf('- [1. One file](0001-one-file.md) (mostly true): the product is one file');
    assert.doesNotMatch(entry?.state ?? '', stateForm);
  });
});

describe('records', () => {
  for (const file of records)
    it(`${file} begins with its number and its question`, () => {
      const [title = ''] = readFileSync(join(folder, file), 'utf8').split('\n');
      assert.match(title, new RegExp(`^# ${Number(file.slice(0, 4))}\\. \\S`));
    });
});
