/** Pages that --help prints for every role and every verb. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { checkArguments, plainFlags, takesPositionals } from '../../src/command-arguments.ts';
import { type Command, type CommandHints, resolve } from '../../src/command-page.ts';
import { commands } from '../../src/command-table.ts';
import { dispatch, type Entry } from '../../src/dispatch.ts';
import { settingTable } from '../../src/roles/settings/setting-table.ts';
import type { SettingRows } from '../../src/settings/definition.ts';
import { flagHeadings } from '../../src/settings/subjects.ts';
import { exampleParts } from '../../src/terminal/usage-page.ts';

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

/** Returns true for the heading of a list of commands; headings of flags are subjects. */
const isOfCommands = (title: string) => /Commands\b|^Functions, /.test(title);

async function walk(path: readonly string[], seen: Map<string, string>): Promise<Map<string, string>> {
  const text = await page(...path);
  seen.set(path.join(' '), text);
  const listed = sectionsOf(text).flatMap(({ title, entries }) => (isOfCommands(title) ? entries : []));
  for (const line of listed) {
    const [name = ''] = line.split(' ');
    if (path.length > 0 || name !== 'version') await walk([...path, name], seen);
  }
  return seen;
}

/** Commands of this machine that also send requests to a cluster, with a kubeconfig. */
const isClient = (path: string) => ['doctor', 'logs', 'status', 'stop', 'support-bundle'].includes(path);

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

test('every role and every verb has a page', () => {
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

const isOfFlags = (title: string) => !isOfCommands(title) && !title.startsWith('Examples:');

for (const [path, text] of pages) {
  test(`the help of minik8s ${path} is narrow and plain, with its flags by subject`, () => {
    const lines = text.split('\n');
    assert.deepEqual(
      lines.filter((line) => line.length > 100),
      [],
    );
    assert.match(lines[0] ?? '', /^[A-Z]/);
    assert.ok(lines.includes('') && text.includes(`\nUsage: minik8s ${path}`.trimEnd()), text);
    assert.equal(text, stripVTControlCharacters(text));
    assert.doesNotMatch(text, /undefined|--no-server-print/);
    // The purpose comes first, then examples, then the usage.
    assert.match(text, /^[^\n]+\n(?:[^\n]+\n)?\nExamples:\n {2}# [A-Z]/);
    assert.ok(text.indexOf('\nExamples:') < text.indexOf('\nUsage:'), text);
    const isOfCtl = path.startsWith('ctl') || /^(token|user)\b/.test(path);
    assert.equal(
      /minik8s ctl options lists the flags of every command/.test(text),
      isOfCtl || isClient(path),
    );
    assert.doesNotMatch(text, /^ {2,6}(?:-n, )?--(?:kubeconfig|request-timeout)/m);
    for (const { title, entries } of sectionsOf(text).filter((section) => isOfFlags(section.title)))
      for (const entry of entries) {
        const name = /^(?:-\w, )?--(\S+)/.exec(entry)?.[1] ?? '';
        const own = roleWords.has(path.split(' ')[0] ?? '');
        if (own) assert.equal(title, `${roleHeadings[name]}:`, entry);
        // A flag has a description, and a setting also its default.
        assert.match(entry, own ? / \w.*\(default .+\)$/ : /--\S+ .*\w/, entry);
      }
  });
}

test('every default of a setting is shown on its help page', () => {
  const all = pages.get('up') ?? '';
  const flat = all
    .slice(all.indexOf('\nUsage:'))
    .replaceAll(/,\n\s+/g, ',')
    .replaceAll(/\s+/g, ' ');
  for (const [name, definition] of Object.entries(settingTable)) {
    const fallback = 'default' in definition ? definition.default : undefined;
    if (fallback === undefined || !all.includes(`--${name} `)) continue;
    const from = flat.slice(flat.indexOf(`--${name} `));
    assert.equal(/\(default ([^)]*)\)/.exec(from)?.[1], fallback, name);
  }
});

/** Returns the command that the words name, and the words behind its name. */
async function commandOf(words: readonly string[]): Promise<readonly [Command, readonly string[]]> {
  const [name = '', ...rest] = words;
  const entry = table[name];
  assert.ok(entry !== undefined, `no command ${name}`);
  let command = await entry.load();
  let left: readonly string[] = rest;
  for (;;) {
    const [next = '', ...more] = left;
    const inner = (await resolve(command.subCommands)) as Record<string, Command> | undefined;
    const found = inner && Object.hasOwn(inner, next) ? inner[next] : undefined;
    if (found === undefined) return [command, left];
    [command, left] = [await resolve(found), more];
  }
}

for (const name of Object.keys(commands).filter((one) => one !== 'ctl' && !commands[one]?.hidden))
  test(`the examples of minik8s ${name} are valid command lines`, async () => {
    for (const path of [...pages.keys()].filter((one) => one === name || one.startsWith(`${name} `))) {
      const [command] = await commandOf(path.split(' '));
      const { examples = [] } = command as CommandHints;
      assert.ok(examples.length > 0, path);
      for (const example of examples) {
        const { line, purpose } = exampleParts(example);
        assert.notEqual(purpose, '', example);
        const words = line.replace(/^source <\(minik8s (.*)\)$/, '$1').split(' ');
        const [called, rest] = await commandOf(words);
        const args = (await resolve(called.args)) ?? {};
        checkArguments(line, args, plainFlags(args, rest));
        assert.ok(called.run !== undefined, `${line} names no command that runs`);
        assert.ok(
          takesPositionals(args) || rest.every((word) => word.startsWith('-') || rest.length > 1),
          line,
        );
      }
    }
  });

test('aliases are listed with the command that they name, and on its page', () => {
  assert.match(pages.get('ctl top') ?? '', /^ {2}node +.*\n?.*\(aliases:\s+nodes,\s+no\)/m);
  assert.doesNotMatch(pages.get('ctl top') ?? '', /^ {2}nodes /m);
  assert.match(pages.get('ctl top node') ?? '', /^Aliases: nodes, no$/m);
});

test('the commands of ctl are in the groups of kubectl', () => {
  const groups = sectionsOf(pages.get('ctl') ?? '').map(({ title, entries }) => [
    title,
    entries.map((entry) => entry.split(' ', 1)[0]),
  ]);
  const of = Object.fromEntries(groups) as Record<string, string[]>;
  assert.deepEqual(of['Basic Commands (Beginner):'], ['create', 'expose', 'run', 'set']);
  assert.deepEqual(of['Basic Commands (Intermediate):'], ['get', 'explain', 'edit', 'delete']);
  assert.deepEqual(of['Deploy Commands:'], ['scale', 'autoscale', 'rollout']);
  assert.deepEqual(of['Functions, Workflows and Slurm:'], [
    ...['function', 'trigger', 'workflow', 'slurm', 'execute', 'update'],
  ]);
});
