/**
 * Every verb and every flag of kubectl 1.32, and of 1.33 and 1.37 where they are installed: ctl has it, or
 * refuses it with a reason.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { refusalOf, refusalsOf, refusingCommands } from '../../../src/cli/kubectl-differences.ts';
import { ctlFor } from '../../fixtures/ctl.ts';
import { type VerbFlags, verbsOfCtl, verbsOfKubectl } from '../../fixtures/kubectl-verbs.ts';
import { kubectlsOf } from '../../fixtures/kubectls.ts';

/** Flags that ctl has with another meaning or form on purpose. */
const different: Readonly<Record<string, string>> = {
  '--v': 'levels from 1 on print the audit id of a failed request; there are no lines of Go code to trace',
};

for (const { version, path: kubectl } of kubectlsOf(['1.32', '1.33', '1.37']))
  describe(`ctl beside the help of kubectl ${version}`, () => {
    let theirs: VerbFlags;
    let ours: VerbFlags;
    before(async () => {
      theirs = await verbsOfKubectl(kubectl);
      ours = await verbsOfCtl();
    });

    it('finds the verbs in the help', () => {
      assert.ok(theirs.size > 95, `${theirs.size} verbs`);
      assert.ok(theirs.get('apply')?.has('--server-side'));
      assert.ok(theirs.get('')?.has('--kubeconfig'));
    });

    it('has every verb or refuses it with a reason', () => {
      const missing = [...theirs.keys()].filter((path) => !ours.has(path) && !isRefused(path));
      assert.deepEqual(missing, []);
    });

    it('has every flag of every verb or refuses it with a reason', () => {
      const missing = [...theirs].flatMap(([path, flags]) => {
        const own = ours.get(path);
        if (!own) return [];
        const unknown = [...flags].filter((flag) => !own.has(flag) && refusalOf(path, flag) === undefined);
        return unknown.length > 0 ? [`${path}: ${unknown.join(' ')}`] : [];
      });
      assert.deepEqual(missing, []);
    });

    it('refuses nothing that it supports, and nothing that kubectl lacks', () => {
      const wrong = refusingCommands.flatMap((path) =>
        refusalsOf(path)
          .filter((word) => isServed(path, word) || (version === '1.32' && !isOfKubectl(path, word)))
          .map((word) => `${path} ${word}`),
      );
      assert.deepEqual(wrong, []);
    });

    it('lists as different only flags that both have', () => {
      for (const flag of Object.keys(different)) {
        assert.ok(ours.get('')?.has(flag), `ctl has ${flag}`);
        assert.ok(theirs.get('')?.has(flag), `kubectl has ${flag}`);
      }
    });

    it('prints the reason for a refused command and a refused flag', async () => {
      const ctl = ctlFor(undefined);
      const verb = await ctl(['alpha', 'debug']);
      assert.match(verb.err, /unknown command alpha: kubectl's alpha commands change/);
      const flag = await ctl(['kustomize', '--enable-helm']);
      assert.match(
        flag.err,
        /unknown flag --enable-helm: ctl runs no Helm for a kustomization; helm template does: /,
      );
      assert.deepEqual([verb.status, flag.status], [1, 1]);
    });

    const isRefused = (path: string): boolean => {
      const words = path.split(' ');
      return words.some((word, index) => refusalOf(words.slice(0, index).join(' '), word) !== undefined);
    };
    const isServed = (path: string, word: string) =>
      word.startsWith('-') ? ours.get(path)?.has(word) : ours.has(`${path} ${word}`.trim());
    const isOfKubectl = (path: string, word: string) => {
      // Short forms and the hidden group alpha are not in the lists of the help.
      if (/^-\w$/.test(word) || word === 'alpha') return true;
      return word.startsWith('-') ? theirs.get(path)?.has(word) : theirs.has(`${path} ${word}`.trim());
    };
  });
