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

describe('the line to type instead of `get`', () => {
  it('has the namespace of a kind and NAMESPACE/NAME', () => {
    assert.equal(otherForm(['get', 'pods', 'shop/web']), 'minik8s ctl get pods web -n shop');
  });

  it('is absent if the first word names an object too', () => {
    assert.equal(otherForm(['get', 'pods/p1', 'pods/p2', '-w']), undefined);
  });
});

describe('the line to type instead of `events`', () => {
  it('has --for before an object, unless it stands there already', () => {
    assert.equal(otherForm(['events', 'pod/web']), 'minik8s ctl events --for pod/web');
    assert.equal(otherForm(['events', '--for', 'nosuch/web']), undefined);
  });
});
