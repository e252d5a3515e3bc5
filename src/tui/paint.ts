/** Colours by meaning; every function returns its text unchanged when colour is off. */
export interface Paint {
  readonly strong: Colour;
  readonly faint: Colour;
  readonly good: Colour;
  readonly bad: Colour;
  readonly warning: Colour;
  readonly accent: Colour;
}

type Colour = (text: string) => string;

/** Six codes by hand: a library for them takes longer to load than most commands run. */
export function paintFor(color: boolean): Paint {
  const style = (open: number, close: number): Colour =>
    color ? (text) => `\x1b[${open}m${text}\x1b[${close}m` : (text) => text;
  return {
    strong: style(1, 22),
    faint: style(2, 22),
    good: style(32, 39),
    bad: style(31, 39),
    warning: style(33, 39),
    accent: style(36, 39),
  };
}
