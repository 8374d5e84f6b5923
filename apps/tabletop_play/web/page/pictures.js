/* Pictures made from drawings here in the browser. */

import { download } from "./dom.js";

const WIDTH = 1600;

/* An SVG document as an address that images take. */
const imageOf = (svg) => URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));

/* Save a square SVG document as a PNG. */
export async function savePicture(svg, name) {
  const image = new Image(), address = imageOf(svg);
  image.src = address;
  try {
    await image.decode();
  } catch {
    throw new Error("This browser can't draw the board as a picture; SVG does.");
  } finally {
    URL.revokeObjectURL(address);
  }
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = WIDTH;
  canvas.getContext("2d").drawImage(image, 0, 0, WIDTH, WIDTH);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  download(name, blob);
}
