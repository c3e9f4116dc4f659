import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HtmlRewriter } from '../../../../src/kube-apiserver/proxy/rewrite-html.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const change = (link: string) => (link.startsWith('/') ? `/P${link}` : link);

function rewrite(pieces: readonly string[]): string {
  const rewriter = new HtmlRewriter(change);
  return pieces.map((piece) => rewriter.push(piece)).join('') + rewriter.end();
}

describe('links in HTML', () => {
  /** Attributes of each HTML element that hold a URL (upstream's list). */
  const attributes = [
    'a href, applet codebase, area href, audio src, base href, blockquote cite, body background',
    'button formaction, command icon, del cite, embed src, form action, frame longdesc, frame src, head profile',
    'html manifest, iframe longdesc, iframe src, img longdesc, img src, img usemap, input src, input usemap',
    'input formaction, ins cite, link href, object classid, object codebase, object data, object usemap, q cite',
    'script src, source src, video poster, video src',
  ].flatMap((line) => line.split(', '));
  for (const attribute of attributes)
    it(attribute, () => assert.equal(rewrite([`<${attribute}="/x">`]), `<${attribute}="/P/x">`));

  it('of elements with names of Object.prototype are handled as unknown elements', () => {
    const text = '<constructor href="/x"><toString href="/y">';
    assert.equal(rewrite([text]), text);
  });

  it('that are too long pass unchanged', () => {
    const link = (length: number) => `<a href="/${'x'.repeat(length - 1)}">`;
    assert.ok(rewrite([link(64 * 1024)]).startsWith('<a href="/P/x'));
    assert.equal(rewrite([link(64 * 1024 + 1)]), link(64 * 1024 + 1));
  });

  const cases: readonly [string, string, string][] = [
    ['a link', '<a href="/x">t</a>', '<a href="/P/x">t</a>'],
    ['other quotes', "<a href='/x'>t</a>", "<a href='/P/x'>t</a>"],
    ['no quotes', '<a href=/x>t</a>', '<a href=/P/x>t</a>'],
    [
      'a quote in a value without quotes',
      `<a href=/it's title=/y><a href='/z'>`,
      `<a href=/P/it's title=/y><a href='/P/z'>`,
    ],
    ['capitals', '<A HREF="/x">', '<A HREF="/P/x">'],
    ['spaces', '<a\n href = "/x" >', '<a\n href = "/P/x" >'],
    [
      'several attributes',
      '<img class="/c" src=/s alt longdesc="/l"/>',
      '<img class="/c" src=/P/s alt longdesc="/P/l"/>',
    ],
    ['an attribute that holds no link', '<a data-href="/x" title="/y">', '<a data-href="/x" title="/y">'],
    ['an element that has no links', '<p href="/x">', '<p href="/x">'],
    ['a form', '<form action="/go" method=post>', '<form action="/P/go" method=post>'],
    ['a > in a value', '<a title="a>b" href="/x">', '<a title="a>b" href="/P/x">'],
    ['a link that leads elsewhere', '<a href="https://example.org/">', '<a href="https://example.org/">'],
    [
      'a script',
      '<script src="/s">if (a <b) "<a href=/x>"</script><a href=/y>',
      '<script src="/P/s">if (a <b) "<a href=/x>"</script><a href=/P/y>',
    ],
    ['a style', '<style>a<a href="/x"></STYLE ><a href=/y>', '<style>a<a href="/x"></STYLE ><a href=/P/y>'],
    [
      'text that only begins like an end tag',
      '<title></titles><a href=/x></title><a href=/y>',
      '<title></titles><a href=/x></title><a href=/P/y>',
    ],
    ['a comment', '<!-- <a href="/x"> --><a href=/y>', '<!-- <a href="/x"> --><a href=/P/y>'],
    ['an empty comment', '<!--><a href=/y>', '<!--><a href=/P/y>'],
    ['a document type', '<!DOCTYPE html><link href=/y>', '<!DOCTYPE html><link href=/P/y>'],
    ['no tag at all', 'a < b && c > d <3', 'a < b && c > d <3'],
    ['an = for a name', '<a ="/x" href=/y>', '<a ="/x" href=/P/y>'],
    ['an attribute without a value', '<a href><a href=/y>', '<a href><a href=/P/y>'],
    ['a tag that does not end', '<a href="/x', '<a href="/x'],
    ['bytes that are not ASCII', '\xc3\xa4<a href="/\xc3\xa4">\xff', '\xc3\xa4<a href="/P/\xc3\xa4">\xff'],
    ['nothing', '', ''],
    [
      'text that looks like a tag in a value',
      '<a title="<a href=/x>" href="/y">',
      '<a title="<a href=/x>" href="/P/y">',
    ],
    [
      'a comment that ends with a bang',
      '<!-- <a href=/x> --!><a href=/y>',
      '<!-- <a href=/x> --!><a href=/P/y>',
    ],
    [
      'a comment in a script',
      '<script><!-- <a href=/x> --></script><a href=/y>',
      '<script><!-- <a href=/x> --></script><a href=/P/y>',
    ],
    ['a comment without an end', '<!-- <a href="/x">', '<!-- <a href="/x">'],
    ['an instruction', '<?php <a href="/x"?><a href=/y>', '<?php <a href="/x"?><a href=/P/y>'],
    ['text to its end', '<plaintext><a href="/x">', '<plaintext><a href="/x">'],
    [
      'several sizes of an image, as upstream',
      '<img srcset="/a 1x, /b 2x" src="/a">',
      '<img srcset="/a 1x, /b 2x" src="/P/a">',
    ],
    ['a base', '<base href="/app/"><a href="x">', '<base href="/P/app/"><a href="x">'],
    ['a slash before attributes', '<img/src="/x"/alt>', '<img/src="/P/x"/alt>'],
    ['an attribute twice', '<a href="/x" href="/y">', '<a href="/P/x" href="/P/y">'],
    ['an empty link', '<a href=""><a href="/y">', '<a href=""><a href="/P/y">'],
    [
      'a name above the maximum length',
      `<${'a'.repeat(100)} href="/x"><a ${'b'.repeat(100)}href="/x">`,
      `<${'a'.repeat(100)} href="/x"><a ${'b'.repeat(100)}href="/x">`,
    ],
    [
      'an element in a template that is not a link',
      '<template><a href="/x"></a></template>',
      '<template><a href="/P/x"></a></template>',
    ],
    ['two bytes a character', '<\0a\0 \0h\0r\0e\0f\0=\0/\0x\0>\0', '<\0a\0 \0h\0r\0e\0f\0=\0/\0x\0>\0'],
    [
      'Japanese in Shift_JIS',
      '<a title="\x83\x5c\x95\x5c" href="/x">',
      '<a title="\x83\x5c\x95\x5c" href="/P/x">',
    ],
  ];
  for (const [what, html, expected] of cases) {
    it(what, () => {
      assert.equal(rewrite([html]), expected);
      assert.equal(rewrite([...html]), expected, 'one byte at a time');
    });
  }

  it('are rewritten equally for any division of the document', () => {
    const random = new SeededRandom(3);
    const html = cases
      .map(([, text]) => text)
      .slice(0, 28)
      .join('\n');
    const whole = rewrite([html]);
    for (let round = 0; round < 200; round++) {
      const pieces: string[] = [];
      for (let at = 0; at < html.length; ) {
        const length = 1 + Math.floor(random.next() * 12);
        pieces.push(html.slice(at, at + length));
        at += length;
      }
      assert.equal(rewrite(pieces), whole);
    }
  });

  it('returns text at once', () => {
    const rewriter = new HtmlRewriter(change);
    assert.equal(rewriter.push('<p>hello <b'), '<p>hello <b');
    assert.equal(rewriter.push('>you <a title="x" href="/li'), '>you <a title="x" href="');
    assert.equal(rewriter.push('nk">'), '/P/link">');
  });

  it('buffer at most one link, even if other parts are long', () => {
    const long = 'x'.repeat(1 << 20);
    for (const begin of [
      '<a title="',
      '<a title=',
      '<a ',
      '<',
      '<!--',
      '<!',
      '</',
      '<script>',
      '<textarea><a href="/',
      '',
    ]) {
      const rewriter = new HtmlRewriter(change);
      assert.equal(rewriter.push(begin) + rewriter.push(long), begin + long, begin);
    }
  });

  it('pass a link above the maximum length unchanged, and continue after it', () => {
    const rewriter = new HtmlRewriter(change);
    const long = `<a href="/${'x'.repeat(70_000)}`;
    assert.equal(rewriter.push(long), long);
    assert.equal(rewriter.push('<a href=/y>'), '<a href=/y>', 'still in the value, as a browser has it');
    assert.equal(rewriter.push('"><a href=/y>'), '"><a href=/P/y>');
  });

  it('returns the rest of a document that ends within a link', () => {
    const rewriter = new HtmlRewriter(change);
    assert.equal(rewriter.push('<a href="/x'), '<a href="');
    assert.equal(rewriter.end(), '/x');
    assert.equal(rewriter.end(), '');
  });
});
