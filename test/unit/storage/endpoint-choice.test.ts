import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EndpointChoice } from '../../../src/storage/endpoint-choice.ts';

test('the first endpoint of a client is chosen at random', () => {
  assert.deepEqual(
    [0, 0.3, 0.34, 0.66, 0.67, 0.999].map((start) => new EndpointChoice(3, start).current),
    [0, 0, 1, 1, 2, 2],
  );
});

test('concurrent failures of one endpoint switch to the next endpoint only once', () => {
  const choice = new EndpointChoice(3, 0);
  assert.equal(choice.failed(0), true);
  for (let late = 0; late < 10; late++) choice.failed(0);
  assert.equal(choice.current, 1);
  choice.failed(1);
  choice.failed(2);
  assert.equal(choice.current, 0, 'the first endpoint follows the last');
});

test('a single endpoint is used again after it has failed', () => {
  const choice = new EndpointChoice(1, 0.9);
  assert.equal(choice.failed(0), false);
  assert.equal(choice.current, 0);
});

test('a failed call switches to the other of two endpoints, and a late failure does not switch back', () => {
  const choice = new EndpointChoice(2, 0);
  assert.equal(choice.failed(0), true);
  assert.equal(choice.failed(0), true);
  assert.equal(choice.current, 1);
  const three = new EndpointChoice(3, 0);
  three.failed(0);
  three.failed(1);
  three.failed(0);
  assert.equal(three.current, 2);
});
