import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { completionScript, type Shell } from '../../../../src/cli/completion/scripts.ts';

/** Makes the script of the shell, and a minik8s that prints `lines` and stores its arguments. */
function fixture(context: TestContext, shell: Shell, lines: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-completion-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const [program, script] = [join(folder, 'minik8s'), join(folder, 'script')];
  const text = lines.map((line) => `${line}\n`).join('');
  writeFileSync(join(folder, 'lines'), text);
  writeFileSync(program, `#!/bin/sh\nprintf '[%s]' "$@" >'${folder}/args'\ncat '${folder}/lines'\n`);
  chmodSync(program, 0o755);
  writeFileSync(script, completionScript(shell));
  const run = (name: string, args: readonly string[]) =>
    execFileSync(name, args, {
      encoding: 'utf8',
      env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder },
    });
  return { folder, script, run, args: () => readFileSync(join(folder, 'args'), 'utf8') };
}

/** Calls the function that `complete` has registered, as readline does, and prints the replies. */
const readline = `
source "$0"
COMP_LINE=$1 COMP_POINT=\${#1}
registered=$(complete -p minik8s)
[[ $registered == 'complete -F _minik8s minik8s' ]] || { echo "$registered"; exit 1; }
_minik8s
printf '<%s>\\n' "\${COMPREPLY[@]}"
`;

test('bash gets the words without their descriptions', (context) => {
  const { script, run, args } = fixture(context, 'bash', []);
  writeFileSync(join(script, '../lines'), 'get\tshow objects\nget-all\tmore\n');
  assert.equal(run('bash', ['--norc', '-c', readline, script, 'minik8s ctl g']), '<get>\n<get-all>\n');
  assert.equal(args(), '[__complete][--][ctl][g]');
  run('bash', ['--norc', '-c', readline, script, 'minik8s ctl get ']);
  assert.equal(args(), '[__complete][--][ctl][get][]');
});

test('bash gets the part after = and : alone, which it replaces', (context) => {
  const flag = fixture(context, 'bash', ['--log-format=text', '--log-format=json']);
  const line = 'minik8s up --log-format=';
  assert.equal(flag.run('bash', ['--norc', '-c', readline, flag.script, line]), '<text>\n<json>\n');
  const name = fixture(context, 'bash', ['system:admin']);
  const typed = 'minik8s ctl get users system:a';
  assert.equal(name.run('bash', ['--norc', '-c', readline, name.script, typed]), '<admin>\n');
});

test('bash runs nothing that is part of a candidate or of the line', (context) => {
  const { folder, script, run } = fixture(context, 'bash', [`$(touch '$HOME/made')`]);
  const line = `minik8s ctl get \`touch ${folder}/made\` $(touch ${folder}/made`;
  run('bash', ['--norc', '-c', readline, script, line]);
  assert.throws(() => readFileSync(join(folder, 'made')), { code: 'ENOENT' });
});

test('bash quotes a candidate, so that the completed line runs no part of it', (context) => {
  const { folder, script, run } = fixture(context, 'bash', ['x$(touch made);touch made', 'a=b:c/d.e']);
  const line = `${readline}\ncd "$HOME"; for one in "\${COMPREPLY[@]}"; do eval "printf '[%s]\\n' $one"; done`;
  const out = run('bash', ['--norc', '-c', line, script, 'minik8s ctl get roles ']);
  assert.match(out, /^\[x\$\(touch made\);touch made\]\n\[a=b:c\/d\.e\]\n$/m);
  assert.match(out, /^<a=b:c\/d\.e>$/m);
  assert.throws(() => readFileSync(join(folder, 'made')), { code: 'ENOENT' });
});

test('fish gets the words with their descriptions', (context) => {
  const { script, run, args } = fixture(context, 'fish', []);
  writeFileSync(join(script, '../lines'), 'get\tshow objects\nget-all\tmore\n');
  const out = run('fish', ['--no-config', '-c', `source ${script}; complete -C 'minik8s ctl g'`]);
  assert.equal(out, 'get\tshow objects\nget-all\tmore\n');
  assert.equal(args(), '[__complete][--][ctl][g]');
  run('fish', ['--no-config', '-c', `source ${script}; complete -C 'minik8s ctl get '`]);
  assert.equal(args(), '[__complete][--][ctl][get][]');
});

/** Defines what zsh's completion system offers to a function, and prints what the function gives it. */
const completionSystem = `
compdef() { print "registered $*" }
_describe() { print -l -- "\${(@P)\${@[-1]}}" }
_files() { print files }
source $1
words=(minik8s "\${(@)argv[2,-1]}") CURRENT=$#words
_minik8s
`;

test('zsh gets the words with their descriptions', (context) => {
  const { script, run, args } = fixture(context, 'zsh', []);
  writeFileSync(join(script, '../lines'), 'get\tshow objects\nsystem:a\n');
  const out = run('zsh', ['-f', '-c', completionSystem, 'zsh', script, 'ctl', 'g']);
  assert.equal(out, 'registered _minik8s minik8s\nget:show objects\nsystem\\:a:\n');
  assert.equal(args(), '[__complete][--][ctl][g]');
  writeFileSync(join(script, '../lines'), ':files\n');
  const files = run('zsh', ['-f', '-c', completionSystem, 'zsh', script, 'ctl', 'apply', '-f', '']);
  assert.equal(files, 'registered _minik8s minik8s\nfiles\n');
  assert.equal(args(), '[__complete][--][ctl][apply][-f][]');
});

test('each shell accepts the syntax of its script', (context) => {
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const { script, run } = fixture(context, shell, []);
    assert.equal(run(shell, ['-n', script]), '');
  }
});
