/**
 * What a cell puts out as HTML may look like anything and must do nothing. The
 * attacks are the well-known ways past filters; each must come out as text or not at
 * all, and what is harmless must come out as it was.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sanitizeHtml } from "../../../kernel/runner/html/sanitize.js";

describe("harmless HTML stays", () => {
  const same = [
    '<figure><figcaption>51,100 and 48,900</figcaption><details open=""><summary>Numbers</summary></details></figure>',
    '<table><caption>c</caption><thead><tr><th scope="col" align="right">n</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>',
    "<p>a <strong>b</strong> <em>c</em> <code>d</code><br>e</p>",
    '<td style="text-align: right">5</td>',
    '<img src="data:image/png;base64,AAAA" alt="a dot" width="3">',
  ];
  for (const html of same) test(html, () => expect(sanitizeHtml(html)).toBe(html));

  test("links keep where they lead, and say nothing to whom they lead", () => {
    expect(sanitizeHtml('<a href="https://www.mongodb.com/docs?a=1">docs</a>')).toBe(
      '<a href="https://www.mongodb.com/docs?a=1" rel="noopener noreferrer nofollow">docs</a>',
    );
  });

  test("what is left open is closed, in order; an end without a start is nothing", () => {
    expect(sanitizeHtml("<div><b>x</div>y</b></i>")).toBe("<div><b>x</b></div>y");
    expect(sanitizeHtml("<ul><li>a<li>b")).toBe("<ul><li>a<li>b</li></li></ul>");
  });

  test("headings become bold lines, as the page's outline is its author's", () => {
    expect(sanitizeHtml("<h1>PASS</h1>")).toBe("<p><strong>PASS</strong></p>");
  });

  test("entities mean what they mean", () => {
    expect(sanitizeHtml("a &lt; b &amp; c &#62; d &rarr; &unknown; 5 < 6")).toBe(
      "a &#60; b &#38; c &#62; d → &#38;unknown; 5 &#60; 6",
    );
  });
});

const attacks: Record<string, string> = {
  "a script": "<script>alert(1)</script>ok",
  "a script in capitals, with attributes and a newline": "<SCRIPT\n src='//evil'>x</SCRIPT\n >ok",
  "a script in pieces": "<scr<script>ipt>alert(1)</scr</script>ipt>ok",
  "a script that never ends": "ok<script>alert(1)",
  "a script behind a slash": "<script/x>alert(1)</script>ok",
  "an event handler": '<b onclick="alert(1)" ONMOUSEOVER=alert(1)>ok</b>',
  "an event handler behind a slash": "<img/onerror=alert(1)/src=x>ok",
  "an event handler behind a quote": '<img src="x"onerror=alert(1)>ok',
  "a quote that closes late": '<img alt="<" onerror="alert(1)">" src="x">ok',
  "a picture from elsewhere": '<img src="https://evil.example/seen.png">ok',
  "a picture that is a page": '<img src="data:text/html;base64,PHNjcmlwdD4=">ok',
  "an SVG": "<svg><script>alert(1)</script><g onload=alert(1)></g></svg>ok",
  "an SVG in an SVG": "<svg><svg></svg><script>alert(1)</script></svg>ok",
  "MathML that turns into HTML":
    "ok<math><mtext><table><mglyph><style><!--</style><img onerror=alert(1) src>",
  "a javascript link": '<a href="javascript:alert(1)">ok</a>',
  "a javascript link, spelt by entities": '<a href="&#106;ava&#x73;cript&colon;alert(1)">ok</a>',
  "a javascript link with control characters": '<a href=" \u0001java\nscript:alert(1)">ok</a>',
  "a data link": '<a href="data:text/html,<script>alert(1)</script>">ok</a>',
  "a style sheet": "<style>body{display:none}</style>ok",
  "a style that loads": '<p style="background:url(https://evil.example/)">ok</p>',
  "a style that covers the page": '<div style="position:fixed;inset:0;z-index:9">ok</div>',
  "a frame": '<iframe srcdoc="<script>alert(1)</script>"></iframe>ok',
  "an object": '<object data="x.swf"><embed src="x"></object>ok',
  "a base": '<base href="https://evil.example/">ok',
  "a meta refresh": '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">ok',
  "a form": '<form action="https://evil.example"><input name="password"><button>ok</button></form>',
  "a comment that ends early": "<!--><script>alert(1)</script>-->ok",
  "a comment with a bang": "<!-- --!><img src=x onerror=alert(1)>ok",
  "a conditional comment": "<!--[if gte IE 4]><script>alert(1)</script><![endif]-->ok",
  "a CDATA section": "<![CDATA[<script>alert(1)</script>]]>ok",
  "a processing instruction": "<?xml <script>alert(1)</script>?>ok",
  "a text area that hides an end":
    '<textarea><img title="</textarea><img src=x onerror=alert(1)>"></textarea>ok',
  "a noscript that hides an end":
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>ok',
  "a template": "<template><script>alert(1)</script></template>ok",
  "a title": "<title><img title='</title><script>alert(1)</script>'>ok",
  "names that are ids of the page": '<b id="content" name="body" class="skip">ok</b>',
  "an element with the name of a property": "<constructor></constructor><__proto__ onclick=x>ok",
  "an end of the page's own elements": "</div></main></body></html>ok",
  plaintext: "ok<plaintext><script>alert(1)</script>",
  "a nul in a name": "<scr\0ipt>alert(1)</scr\0ipt>ok",
};

describe("attacks come to nothing", () => {
  for (const [name, attack] of Object.entries(attacks)) {
    test(name, () => {
      const clean = sanitizeHtml(attack);
      expectHarmless(clean);
      expect(clean).toContain("ok");
    });
  }

  test("whatever is put together of their pieces, also a second time", () => {
    const pieces = Object.values(attacks).flatMap((attack) => attack.split(/(?=[<>"'=\s/&])/));
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
        const clean = sanitizeHtml(parts.join(""));
        expectHarmless(clean);
        expectHarmless(sanitizeHtml(clean));
      }),
      { numRuns: 2_000 },
    );
  });

  test("in linear time", () => {
    // A quadratic scanner would take minutes for these.
    expect(sanitizeHtml("<".repeat(200_000)).length).toBe(200_000 * "&#60;".length);
    expect(sanitizeHtml("<svg>".repeat(50_000))).toBe("");
    expect(sanitizeHtml("<a ".repeat(50_000)).length).toBeLessThan(100);
    expect(sanitizeHtml("<b>".repeat(50_000)).length).toBe(50_000 * "<b></b>".length);
    expect(sanitizeHtml("</b>".repeat(100_000))).toBe("");
    expect(sanitizeHtml("<b>".repeat(50_000) + "</i>".repeat(50_000)).length).toBe(50_000 * "<b></b>".length);
  });
});

/** Every tag must be one that the sanitiser may write, spelt the way it writes them. */
function expectHarmless(html: string): void {
  const rest = html.replace(
    /<\/?([a-z]+)((?: [a-z-]+="[^"<>]*")*)>/g,
    (_, name: string, attributes: string) => {
      expect(name).not.toMatch(
        /^(script|style|svg|math|iframe|object|embed|base|meta|form|input|button|link|template)$/,
      );
      for (const [, key = "", value = ""] of attributes.matchAll(/ ([a-z-]+)="([^"]*)"/g)) {
        expect(key).not.toMatch(/^on|^(id|name|class|srcdoc|action|formaction)$/);
        if (key === "href") expect(value).toMatch(/^(https?:|mailto:|#)/);
        if (key === "src") expect(value).toMatch(/^data:image\/(png|jpeg|gif|webp);base64,/);
        if (key === "style") expect(value).not.toMatch(/url|position|expression|z-index/);
      }
      return "";
    },
  );
  expect(rest).not.toMatch(/[<>]/);
}
