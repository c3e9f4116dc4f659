/** Headers of callers that are used and that are removed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { idOfCall, isDeliverer } from '../../../../../src/features/functions/api/own-headers.ts';

const headers = (id: string) => new Headers({ 'function-call-id': id });

it('the id of a caller can never be the id of a task or an event', () => {
  for (const id of ['mine', 'order-7', '0c7c8a4e-6f0b-4c52-8f0a-111111111111', 'a'.repeat(31)])
    assert.equal(idOfCall(headers(id), false), id);
  const event = '0123456789abcdef0123456789abcdef';
  const uid = '0c7c8a4e-6f0b-4c52-8f0a-111111111111';
  for (const id of [`${uid}.1-0`, `${uid}.1`, '.', event, event.toUpperCase(), `${event}  `, ''])
    assert.equal(idOfCall(headers(id), false), undefined, id);
  assert.equal(idOfCall(headers('x'.repeat(200)), false), 'x'.repeat(128));
  assert.equal(idOfCall(headers(`${'a'.repeat(20)}${'x'.repeat(200)}.`), false)?.includes('.'), false);
  assert.equal(idOfCall(new Headers(), true), undefined);
  assert.equal(idOfCall(new Headers(), false), undefined);
  assert.equal(idOfCall(headers(event), true), event, 'of a delivery it is that of the event');
});

it('only the account of the controller may deliver events', () => {
  assert.equal(isDeliverer({ name: 'system:serviceaccount:kube-system:trigger-controller' }), true);
  assert.equal(isDeliverer({ name: 'system:serviceaccount:default:trigger-controller' }), false);
});
