import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const hi: Texts<Key> = {
  follow: "फ़ॉलो करें",
  following: "फ़ॉलो कर रहे हैं",
  unfollow: "अनफ़ॉलो करें",
  failed: "यह नहीं हो सका। फिर कोशिश करें।",
};

export default hi;
