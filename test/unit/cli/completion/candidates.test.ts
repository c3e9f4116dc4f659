import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completionLines } from '../../../../src/cli/completion/candidates.ts';
import { shortest } from '../../../../src/cli/completion/cluster-candidates.ts';
import { objectFormat } from '../../../../src/cli/printers/object-format.ts';
import { commands } from '../../../../src/command-table.ts';

/** Cluster with two kinds and their names; `asked` collects the arguments of ctl. */
function cluster() {
  const asked: string[] = [];
  const answers: Readonly<Record<string, readonly string[]>> = {
    'api-resources': ['pods', 'deployments.apps', 'events', 'events.events.k8s.io'],
    'get pods': ['pod/web-1', 'pod/web-2', 'pod/db-0'],
    'get nodes': ['node/one'],
    'get roles': ['role/--all', 'role/a\u001b[2J', 'role/b\u202ec', 'role/system:a'],
    'get namespaces': ['namespace/default', 'namespace/shop'],
  };
  const ask = async (args: readonly string[]) => {
    asked.push(args.join(' '));
    return answers[args.slice(0, args[0] === 'get' ? 2 : 1).join(' ')] ?? [];
  };
  return { asked, ask };
}

/** Returns the words that complete the last word of the line, which is split at spaces. */
async function completed(line: string, { ask } = cluster()): Promise<string[]> {
  const lines = await completionLines(commands, line.split(' '), ask);
  return lines.map((each) => each.split('\t', 1)[0] ?? '');
}

const cases: readonly [line: string, expected: readonly string[]][] = [
  ['ba', ['backup']],
  ['__', []],
  ['unknown ', []],
  ['backup ', ['create', 'list', 'verify', 'restore']],
  ['completion z', ['zsh']],
  ['up --overl', ['--overlay']],
  ['up --overlay ', ['vxlan', 'host-routes']],
  ['up --overlay v', ['vxlan']],
  ['up --log-format=j', ['--log-format=json']],
  ['install node --log-format ', ['text', 'json']],
  ['up --config ', [':files']],
  ['ctl rollout st', ['status']],
  ['ctl get po', ['pods']],
  ['ctl get e', ['events', 'events.events.k8s.io']],
  ['ctl get pods web', ['web-1', 'web-2']],
  ['ctl get pods web-1 web', ['web-2']],
  ['ctl get pods/d', ['pods/db-0']],
  ['ctl logs ', ['web-1', 'web-2', 'db-0']],
  ['ctl logs web-1 ', []],
  ['ctl drain ', ['one']],
  ['ctl get -n s', ['shop']],
  // A name may have any characters; --all as a word would be a flag, and an escape would reach the terminal.
  ['ctl delete roles ', ['system:a']],
  ['ctl delete roles/', ['roles/system:a']],
  ['ctl get pods -o j', ['json', 'jsonpath', 'jsonpath-as-json', 'jsonpath-file']],
  ['ctl get pods --output=w', ['--output=wide']],
  ['ctl convert -o ', ['yaml', 'json']],
  ['ctl apply -f ', [':files']],
];
for (const [line, expected] of cases)
  test(`minik8s ${line}: completed by ${expected.join(', ') || 'nothing'}`, async () => {
    assert.deepEqual(await completed(line), expected);
  });

test('candidates have the text of the help', async () => {
  const [line] = await completionLines(commands, ['backu'], async () => []);
  assert.equal(line, 'backup\tcreate, list, verify and restore backups of a cluster');
});

test('the chosen namespace and context are used, and a token is not repeated', async () => {
  const { asked, ask } = cluster();
  await completed('ctl get --context=east --token secret -n shop pods ', { asked, ask });
  assert.deepEqual(asked, ['get pods --output=name --context=east --namespace=shop']);
});

test('a plural of two groups keeps its group', () => {
  assert.deepEqual(shortest(['a', 'b.x', 'b.y', 'c.x']), ['a', 'b.x', 'b.y', 'c']);
});

test('every format that completion offers is one that ctl accepts', async () => {
  const offered = await completed('ctl get pods -o ');
  assert.throws(
    () => objectFormat('none'),
    (error: Error) => {
      const [, allowed = ''] = /allowed formats are: (.*)$/.exec(error.message) ?? [];
      assert.deepEqual(offered, allowed.split(','));
      return true;
    },
  );
});
