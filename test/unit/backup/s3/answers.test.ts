import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  completionOf,
  errorIn,
  isCompletion,
  listPageIn,
  uploadIdIn,
} from '../../../../src/backup/s3/answers.ts';

const list = (more: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${more}</ListBucketResult>`;

test('listPageIn returns the keys with decoded entities, the sizes and the token of the next page', () => {
  const contents = '<Contents><Key>a &amp; &lt;b&gt;&#x20;ü</Key><Size>17</Size><ETag>"x"</ETag></Contents>';
  assert.deepEqual(listPageIn(list(`<IsTruncated>false</IsTruncated>${contents}`)), {
    objects: [{ key: 'a & <b> ü', size: 17 }],
    next: undefined,
  });
  const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>t/1=</NextContinuationToken>';
  assert.deepEqual(listPageIn(list(more)), { objects: [], next: 't/1=' });
});

test('a truncated page without a continuation token is rejected', () => {
  assert.equal(listPageIn(list('<IsTruncated>true</IsTruncated>')), undefined);
});

test('texts that are not answers of S3 are rejected', () => {
  for (const text of [
    '',
    'hello',
    '<html><body>Welcome</body></html>',
    '{"a":1}',
    '<a',
    '</a></b>',
    '<![CDATA[',
  ])
    assert.deepEqual(
      [listPageIn(text), errorIn(text), uploadIdIn(text), isCompletion(text)],
      [undefined, undefined, undefined, false],
      text,
    );
});

test('elements that are nested too deeply are rejected before the parser reads all of them', () => {
  // Without the limit of the depth, the parser would need hours for these texts.
  assert.equal(listPageIn('<ListBucketResult>'.repeat(400_000)), undefined);
  assert.equal(errorIn(`<Error>${'<a>'.repeat(2_000_000)}`), undefined);
});

test('a page that is incomplete or has an object without a valid size is rejected', () => {
  const whole = list('<IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>1</Size></Contents>');
  assert.ok(listPageIn(whole));
  for (let length = whole.length - 1; length > 0; length -= 7)
    assert.equal(listPageIn(whole.slice(0, length)), undefined, `${length} characters`);
  for (const size of ['', '-1', '1e3', 'NaN', '9'.repeat(20)])
    assert.equal(
      listPageIn(list(`<Contents><Key>a</Key><Size>${size}</Size></Contents>`)),
      undefined,
      `size ${size}`,
    );
});

test('a field of an error is used only if it is short and has only letters, digits, dots, colons and hyphens', () => {
  const error = (more: string) => errorIn(`<Error>${more}</Error>`);
  assert.deepEqual(error('<Code>PermanentRedirect</Code><Endpoint>b.s3.eu-west-1.amazonaws.com</Endpoint>'), {
    code: 'PermanentRedirect',
    region: undefined,
    endpoint: 'b.s3.eu-west-1.amazonaws.com',
  });
  assert.equal(error('<Code>two words</Code>'), undefined);
  assert.equal(error('<Code>a\u001b[31m</Code>'), undefined);
  assert.equal(error(`<Code>Access</Code><Region>${'x'.repeat(300)}</Region>`)?.region, undefined);
});

test('the request that completes an upload has the number and the tag of each part', () => {
  assert.match(
    completionOf(['"a"', 'b<']),
    /<Part><PartNumber>1<\/PartNumber><ETag>&quot;a&quot;<\/ETag><\/Part><Part><PartNumber>2<\/PartNumber><ETag>b&lt;<\/ETag><\/Part>/,
  );
  assert.ok(isCompletion('<CompleteMultipartUploadResult/>'));
  assert.ok(!isCompletion('<Error><Code>InternalError</Code></Error>'));
  const begun = '<InitiateMultipartUploadResult><UploadId>u-1</UploadId></InitiateMultipartUploadResult>';
  assert.equal(uploadIdIn(begun), 'u-1');
  assert.equal(
    uploadIdIn('<InitiateMultipartUploadResult><UploadId/></InitiateMultipartUploadResult>'),
    undefined,
  );
});
