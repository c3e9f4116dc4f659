import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectUrl } from '../../../../src/backup/s3/endpoint.ts';

const region = 'eu-west-1';
const location = { bucket: 'my-bucket', key: "a b/(c)*'+ü" };
const path = 'a%20b/%28c%29%2A%27%2B%C3%BC';

test('the URL of an object has the bucket in its host name or in its path', () => {
  assert.equal(
    objectUrl({ endpoint: undefined, region, pathStyle: false }, location).href,
    `https://my-bucket.s3.eu-west-1.amazonaws.com/${path}`,
  );
  const endpoint = new URL('https://s3.example.com:9000/base/');
  assert.equal(
    objectUrl({ endpoint, region, pathStyle: true }, location).href,
    `https://s3.example.com:9000/base/my-bucket/${path}`,
  );
  assert.equal(endpoint.href, 'https://s3.example.com:9000/base/');
});

test('a query is encoded with %20 for spaces and with all reserved characters escaped', () => {
  const url = objectUrl(
    { endpoint: undefined, region, pathStyle: true },
    { bucket: 'b', key: '' },
    {
      uploads: '',
      prefix: 'a b/+&=',
    },
  );
  assert.equal(url.href, 'https://s3.eu-west-1.amazonaws.com/b/?uploads=&prefix=a%20b%2F%2B%26%3D');
});
