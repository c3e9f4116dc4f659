import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { otherForm } from '../../../src/cli/other-forms.ts';

describe('the line to type instead of `delete`', () => {
  it('has the namespace of a line with namespace, kind and name', () => {
    assert.equal(otherForm(['delete', 'shop', 'Pod', 'web']), 'minik8s ctl delete pod web -n shop');
  });

  it('is absent if a word is TYPE/NAME, because the advice would name another object than the user meant', () => {
    assert.equal(otherForm(['delete', 'pod', 'web', 'svc/web']), undefined);
  });
});
