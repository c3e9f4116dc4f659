import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { command, Words } from '../../../src/why/command.ts';
import { explain } from '../../../src/why/explain.ts';
import { RuleBook } from '../../../src/why/rule-book.ts';
import { rules } from '../../../src/why/rules/index.ts';
import { Snapshot } from '../../../src/why/snapshot.ts';
import { now, waiting } from './why-objects.ts';

/** Returns the words as a shell reads them. */
const read = (text: string) =>
  execFileSync('sh', ['-c', `printf '%s\\n' ${text}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');

describe('a command', () => {
  it('contains each value as one word, whatever its characters are', () => {
    for (const value of ['web', 'a b', "it's", '$(echo no)', '`echo no`', ';echo', '*', '{"a":1}', '~'])
      assert.deepEqual(read(command`get ${value} -n x`), ['get', value, '-n', 'x']);
  });

  it('has each value of a list as a word, and leaves words unchanged that are quoted already', () => {
    const text = command`label ${['a=1', 'b=x y']}${new Words(' -n shop')} --list`;
    assert.deepEqual(read(text), ['label', 'a=1', 'b=x y', '-n', 'shop', '--list']);
  });

  it('can have a value as a part of a word', () => {
    assert.deepEqual(read(command`set image web ${'my c'}=${'a;b'}`), ['set', 'image', 'web', 'my c=a;b']);
  });
});

it('a command of an explanation does not run a command in the name of an image', () => {
  const web = waiting('web', 'ErrImagePull', 'bad', { image: 'x; touch /tmp/pwned' });
  const seen = new Snapshot({ nowMs: Date.parse(now), objects: { pods: [web] } });
  const book = new RuleBook(rules);
  const [step] = explain(seen, { key: 'pods', namespace: 'default', name: 'web' }, book);
  const commands = (step?.finding.mend ?? []).flatMap((one) => ('command' in one ? [one.command] : []));
  assert.ok(commands.includes("image load 'x; touch /tmp/pwned'"), commands.join('\n'));
});
