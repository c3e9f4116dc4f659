import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageMounts, missingPart } from '../../../../src/kubelet/runtime/image-mounts.ts';

const digits = (digit: string) => digit.repeat(64);
const mount = (digit: string, target: string, subPath = '') => ({
  imageId: `sha256:${digits(digit)}`,
  target,
  subPath,
});

describe('image mounts in a request to Docker', () => {
  it('are read-only, whole or in part', () => {
    assert.deepEqual(imageMounts([mount('a', '/all'), mount('b', '/part', 'etc/conf')]), [
      { Type: 'image', Source: digits('a'), Target: '/all', ReadOnly: true },
      {
        Type: 'image',
        Source: digits('b'),
        Target: '/part',
        ReadOnly: true,
        ImageOptions: { Subpath: 'etc/conf' },
      },
    ]);
  });

  it('use a separate name for each mount of the same image', () => {
    const wanted = [mount('a', '/1'), mount('b', '/2'), mount('a', '/3'), mount('a', '/4', 'x')];
    assert.deepEqual(
      imageMounts(wanted).map(({ Source }) => Source),
      [digits('a'), digits('b'), digits('a').slice(0, 63), digits('a').slice(0, 62)],
    );
  });

  it('have a name that is long enough to be unique, and are refused if none is left', () => {
    const often = (times: number) => Array.from({ length: times }, (_, index) => mount('a', `/${index}`));
    assert.equal(new Set(imageMounts(often(41)).map(({ Source }) => Source)).size, 41);
    assert.throws(() => imageMounts(often(42)), {
      name: 'RuntimeError',
      message: /an image more than 41 times into a container: sha256:aa/,
    });
  });
});

describe('the part of an image that does not exist', () => {
  const place = '/var/lib/docker/overlay2/1/merged';
  const info = {
    Mounts: [
      { Type: 'bind', Source: '/data', Destination: '/data' },
      { Type: 'image', Source: `${place}-whole`, Destination: '/whole' },
      { Type: 'image', Source: place, Destination: '/part' },
      { Type: 'image', Source: `${place}2`, Destination: '/other' },
    ],
    HostConfig: {
      Mounts: [
        { Target: '/data' },
        { Target: '/whole' },
        { Target: '/part', ImageOptions: { Subpath: 'a/b' } },
        { Target: '/other', ImageOptions: { Subpath: 'c' } },
      ],
    },
  };

  it('is named by its path in the container, not by its path on the machine', () =>
    assert.equal(
      missingPart(info, `cannot access path ${place}/a/b: lstat`),
      '"a/b" of the image for /part',
    ));

  it('is reported for the right image if the name of one place is a prefix of another', () =>
    assert.equal(missingPart(info, `cannot access path ${place}2/c: lstat`), '"c" of the image for /other'));

  for (const [what, said] of [
    ['a mount of a whole image', `cannot mount ${place}-whole`],
    ['another failure', 'exec: "absent": executable file not found in $PATH'],
    ['a directory of the machine', 'mounting "/data" to rootfs at "/data"'],
  ] as const)
    it(`is not reported for ${what}`, () => assert.equal(missingPart(info, said), undefined));

  it('is not reported for a container without mounts', () =>
    assert.equal(missingPart({ HostConfig: {} }, place), undefined));
});
