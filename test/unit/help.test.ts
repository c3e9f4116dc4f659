/** Pages that --help prints for every role and every verb. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { flagSubjects } from '../../src/cli/flags/flag-groups.ts';
import { commands } from '../../src/command-table.ts';
import { dispatch, type Entry } from '../../src/dispatch.ts';
import { settingTable } from '../../src/roles/settings/setting-table.ts';
import type { SettingRows } from '../../src/settings/definition.ts';
import { flagHeadings } from '../../src/settings/subjects.ts';

/** Entries; each is loaded once, as in a process. */
const table: Record<string, Entry> = Object.fromEntries(
  Object.entries(commands).map(([name, entry]) => {
    let loaded: ReturnType<Entry['load']> | undefined;
    return [name, { ...entry, load: () => (loaded ??= entry.load()) }];
  }),
);
// The commands of this process add listeners for its signals and for errors of its output.
after(() => process.stdout.removeAllListeners('error'));

async function page(...path: string[]): Promise<string> {
  let text = '';
  const output = { out: (more: string) => (text += more), err: (more: string) => assert.fail(more) };
  assert.equal(await dispatch(table, [...path, '--help'], output), 0);
  return text;
}

interface Section {
  readonly title: string;
  /** First line of each command or flag, joined with the lines that belong to it. */
  readonly entries: readonly string[];
}

const sectionsOf = (text: string): Section[] =>
  text
    .split('\n\n')
    .filter((part) => /^[A-Z].*:\n {2}/.test(part))
    .map((part) => {
      const [title = '', ...lines] = part.trimEnd().split('\n');
      const joined = lines.join('\n').replaceAll(/\n {8,}/g, ' ');
      return { title, entries: joined.split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' ')) };
    });

async function walk(path: readonly string[], seen: Map<string, string>): Promise<Map<string, string>> {
  const text = await page(...path);
  seen.set(path.join(' '), text);
  const listed = sectionsOf(text).find(({ title }) => title === 'Commands:')?.entries ?? [];
  for (const line of listed) {
    const [name = ''] = line.split(' ');
    if (path.length > 0 || name !== 'version') await walk([...path, name], seen);
  }
  return seen;
}

/** Commands that run on a machine, with settings; the others are clients of a cluster. */
const roleWords = new Set([
  'up',
  'master',
  'node',
  'reset',
  'install',
  'uninstall',
  'backup',
  'certs',
  'upgrade',
  'masters',
  'recover',
]);

const pages = await walk([], new Map());

test('there is a page for every role and every verb', () => {
  for (const path of ['up', 'master', 'node', 'token create', 'reset', 'ctl', 'ctl get', 'ctl rollout undo'])
    assert.ok(pages.has(path), path);
  assert.ok(pages.size > 45, [...pages.keys()].join(', '));
});

const roleHeadings: Readonly<Record<string, string>> = {
  ...flagHeadings,
  ...Object.fromEntries(
    Object.entries<SettingRows[string]>(settingTable).map(([name, { subject }]) => [name, subject]),
  ),
};

for (const [path, text] of pages) {
  test(`minik8s ${path} --help: narrow, plain, its flags by subject`, () => {
    const lines = text.split('\n');
    assert.deepEqual(
      lines.filter((line) => line.length > 100),
      [],
    );
    assert.match(lines[0] ?? '', /^[A-Z]/);
    assert.ok(lines.includes('') && text.includes(`\nUsage: minik8s ${path}`.trimEnd()), text);
    assert.equal(text, stripVTControlCharacters(text));
    assert.doesNotMatch(text, /undefined|--no-server-print/);
    for (const { title, entries } of sectionsOf(text).filter((section) => section.title !== 'Commands:'))
      for (const entry of entries) {
        const name = /^(?:-\w, )?--(\S+)/.exec(entry)?.[1] ?? '';
        const own = roleWords.has(path.split(' ')[0] ?? '');
        const group = own ? roleHeadings[name] : flagSubjects.headingOf(name);
        assert.equal(title, `${group}:`, entry);
        // A flag has a description, and a setting also its default.
        assert.match(entry, own ? / \w.*\(default .+\)$/ : /--\S+ .*\w/, entry);
      }
  });
}

test('every default of a setting is the one that its help page shows', () => {
  const all = pages.get('up') ?? '';
  const flat = all.replaceAll(/,\n\s+/g, ',').replaceAll(/\s+/g, ' ');
  for (const [name, definition] of Object.entries(settingTable)) {
    const fallback = 'default' in definition ? definition.default : undefined;
    if (fallback === undefined || !all.includes(`--${name} `)) continue;
    const from = flat.slice(flat.indexOf(`--${name} `));
    assert.equal(/\(default ([^)]*)\)/.exec(from)?.[1], fallback, name);
  }
});
