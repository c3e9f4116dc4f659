/** Help of the verbs of ctl: each has a purpose, examples that parse, and the defaults of its flags. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verbs } from '../../../src/cli/commands/index.ts';
import { connectionFlags, type FlagDefinition, Flags, toArgs } from '../../../src/cli/flags/flags.ts';
import { commandGroups, type Verb, type VerbGroup } from '../../../src/cli/verb.ts';
import { plainFlags, takesPositionals } from '../../../src/command-arguments.ts';
import { ctlFeatures } from '../../../src/features/ctl.ts';
import { exampleParts } from '../../../src/terminal/usage-page.ts';
import { ctlCommandsIn } from '../../fixtures/example-lines.ts';

const found = new Map<string, Verb | VerbGroup>();
const walk = (path: string, verb: Verb | VerbGroup): void => {
  found.set(path, verb);
  const inner = 'verbs' in verb ? verb.verbs : (verb.inner ?? {});
  for (const [name, one] of Object.entries(inner)) walk(`${path} ${name}`, one);
};
const top = await Promise.all(
  Object.entries({ ...verbs, ...ctlFeatures.verbs }).map(
    async ([name, load]) => [name, await load()] as const,
  ),
);
for (const [name, verb] of top) walk(name, verb);

/** Returns the verb that the words begin with, and the words after its name. */
function verbOf(
  words: readonly string[],
): readonly [verb: Verb | VerbGroup | undefined, rest: readonly string[]] {
  for (let count = Math.min(3, words.length); count > 0; count--) {
    const verb = found.get(words.slice(0, count).join(' '));
    if (verb !== undefined) return [verb, words.slice(count)];
  }
  return [undefined, words];
}

/** Throws if the verb does not take these words and flags. */
function parse(words: readonly string[]): void {
  const [verb, rest] = verbOf(words);
  if (verb === undefined || 'verbs' in verb) throw new Error(`${words.join(' ')}: no verb`);
  const table = { ...connectionFlags, ...verb.flags };
  const flags = new Flags(table, plainFlags(toArgs(table, verb.words), rest));
  if (flags.words.length > 0)
    assert.ok(takesPositionals(toArgs(table, verb.words)), `${words.join(' ')}: it takes no words`);
}

/** Hints of values that are amounts: such a flag has a default or is required. */
const amounts = /^(COUNT|NUMBER|SECONDS|DURATION|TIME|LINES|BYTES|PODS|CALLS|INSTANCES|LEVEL)$/;
const isChoice = (hint: string) => /^[\w.-]+(\|[\w.-]+)+$/.test(hint) && /\|/.test(hint);

/** Returns what is wrong with the text of a flag; undefined if nothing is. */
function fault({ type, about, hint = 'VALUE', usual }: FlagDefinition): string | undefined {
  if (about.length < 8 || /[.;:]$/.test(about)) return 'has no phrase as its text';
  if (type === 'boolean') return undefined;
  if (!/[A-Z|a-z]/.test(hint) || hint === 'VALUE') return 'has no placeholder';
  if ((amounts.test(hint) || isChoice(hint)) && usual === undefined && !about.includes('required'))
    return 'has no default: set usual, or say in the text that it is required';
  const unit = /SECONDS|BYTES/.exec(hint)?.[0].toLowerCase();
  return unit !== undefined && !about.includes(unit.slice(0, -1))
    ? `does not say its unit, ${unit}`
    : undefined;
}

describe('the help of the verbs of ctl', () => {
  for (const [path, verb] of found) {
    it(`ctl ${path} has a purpose in one line, and an example of itself`, () => {
      assert.match(verb.about, /^[a-z]/);
      assert.ok(verb.about.length <= 100 && !/\.$|\. /.test(verb.about), verb.about);
      const examples = verb.examples ?? [];
      assert.ok(examples.length > 0, 'no example');
      const own = examples.filter((example) => verbOf(ctlCommandsIn(example)[0] ?? [])[0] === verb);
      if (!('verbs' in verb)) assert.ok(own.length > 0, `no example of it in ${examples.join('; ')}`);
    });
    for (const example of verb.examples ?? [])
      it(`the example of ctl ${path} parses: ${exampleParts(example).line}`, () => {
        assert.notEqual(exampleParts(example).purpose, '', 'no purpose behind " # "');
        const commands = ctlCommandsIn(example);
        assert.ok(commands.length > 0);
        for (const words of commands) parse(words);
      });
    if (!('verbs' in verb))
      it(`ctl ${path} says the default and the unit of its flags`, () => {
        const faults = Object.entries(verb.flags ?? {}).flatMap(([name, flag]) => {
          const what = fault(flag);
          return what === undefined ? [] : [`--${name} ${what}`];
        });
        assert.deepEqual(faults, []);
      });
  }

  it('lists every command of ctl under a heading', () => {
    const without = top.filter(([, { group }]) => group === undefined || !commandGroups.includes(group));
    assert.deepEqual(
      without.map(([name]) => name),
      [],
    );
  });

  it('has the headings of features only in the verbs of features', () => {
    const subjects = (verb: Verb | VerbGroup) =>
      'verbs' in verb
        ? []
        : Object.values(verb.flags ?? {}).flatMap(({ subject }: FlagDefinition) => subject ?? []);
    for (const [path, verb] of found) {
      const [first = ''] = path.split(' ');
      const wrong = subjects(verb).filter((subject) =>
        /^The (function|trigger|workflow|run|job)$/.test(subject),
      );
      if (!Object.hasOwn(ctlFeatures.verbs, first)) assert.deepEqual(wrong, [], path);
    }
  });
});
