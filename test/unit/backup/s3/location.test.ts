import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatBucketLocation,
  isBucketLocation,
  locationIn,
  parseBucketLocation,
} from '../../../../src/backup/s3/location.ts';

test('a location has a bucket and a prefix, without the slash at its end', () => {
  for (const [text, bucket, key] of [
    ['s3://bucket', 'bucket', ''],
    ['s3://bucket/', 'bucket', ''],
    ['s3://my.bucket-1/a b/ü+c/', 'my.bucket-1', 'a b/ü+c'],
  ] as const) {
    const location = parseBucketLocation(text);
    assert.deepEqual(location, { bucket, key });
    assert.equal(formatBucketLocation(location), text.replace(/\/$/, ''));
  }
  assert.deepEqual(locationIn({ bucket: 'b', key: '' }, 'x'), { bucket: 'b', key: 'x' });
  assert.deepEqual(locationIn({ bucket: 'b', key: 'p' }, 'x'), { bucket: 'b', key: 'p/x' });
});

for (const text of [
  's3://',
  's3:/bucket',
  'S3://bucket',
  's3://ab',
  's3://Bucket/x',
  's3://a..b/x',
  's3://-bucket',
  's3://user:secret@bucket/x',
  's3://bucket//x',
  's3://bucket/../other',
  's3://bucket/a/./b',
  's3://bucket/a?b',
  's3://bucket/a#b',
  's3://bucket/a\\b',
  's3://bucket/a\nb',
  `s3://bucket/${'x'.repeat(961)}`,
])
  test(`${JSON.stringify(text).slice(0, 40)} is refused with the expected form`, () => {
    assert.ok(isBucketLocation(text));
    assert.throws(() => parseBucketLocation(text), /^Error: expected s3:\/\/BUCKET/);
  });

test('a path is not a bucket location', () => {
  for (const text of ['/s3://bucket', '/var/backups', 's3', './s3:x']) assert.ok(!isBucketLocation(text));
});
